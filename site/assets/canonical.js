// Computes hashes of JSON as the service does, for pages that check one. Such a page loads this script, and the page's own
// script imports it by the address from which it was loaded.

/** Returns canonical JSON (RFC 8785): members ordered by their names' UTF-16 code units, numbers and strings as JavaScript writes them. */
export function canonical (value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
  return `{${members.join(',')}}`
}

export function hex (bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Returns the SHA-256 of a text or of bytes, as 64 hex digits. */
export async function sha256 (content) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
