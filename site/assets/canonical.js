// Hashes of JSON as the service makes them, for the pages that check one. A page that needs them loads this script, and
// its own script imports it by the address that it was loaded from.

/** JSON as RFC 8785 has it: members in the order of their names' UTF-16 code units, numbers and strings as JavaScript writes them. */
export function canonical (value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
  return `{${members.join(',')}}`
}

export function hex (bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The SHA-256 of a text or of bytes, as 64 hex digits. */
export async function sha256 (content) {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
