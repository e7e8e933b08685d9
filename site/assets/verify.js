// Checks open data in the browser: the manifest's signature against the published keys, and a chosen file against the manifest.
const { canonical, sha256 } = await import(document.querySelector('script[src*="/canonical."]').src)

const form = document.getElementById('check-file')

function size (bytes) {
  const [unit, divisor] = bytes < 1000 ? ['B', 1] : bytes < 1e6 ? ['kB', 1e3] : bytes < 1e9 ? ['MB', 1e6] : ['GB', 1e9]
  const value = bytes / divisor
  return `${value.toFixed(unit === 'B' || (value >= 100 && unit !== 'GB') ? 0 : 1)} ${unit}`
}

function bytesOf (base64url) {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(text, (sign) => sign.charCodeAt(0))
}

function say (step, state, text) {
  const line = form.querySelector(`[data-step=${step}]`)
  line.className = state
  line.querySelector('span').textContent = text
}

/** Returns whether this browser supports Ed25519. */
async function hasEd25519 () {
  try {
    return Boolean(await crypto.subtle.generateKey({ name: 'Ed25519' }, false, ['sign', 'verify']))
  } catch {
    return false
  }
}

/** Verifies with a published key that the signature, a compact JWS over the hash's hex digits, covers the manifest. */
async function verifies (manifest, keys) {
  const { signature, ...signed } = manifest
  const jwk = keys.keys.find(({ kid, x }) => kid === signature.kid && x)
  if (!jwk) return false
  const key = await crypto.subtle.importKey('jwk', { kty: 'OKP', crv: 'Ed25519', x: jwk.x }, { name: 'Ed25519' }, false, ['verify'])
  const [header, , mac] = signature.jws.split('.')
  const said = JSON.parse(new TextDecoder().decode(bytesOf(header)))
  if (said.alg !== 'EdDSA' || said.kid !== signature.kid) return false
  const hash = await sha256(canonical(signed))
  const middle = btoa(hash).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
  return crypto.subtle.verify({ name: 'Ed25519' }, key, bytesOf(mac), new TextEncoder().encode(`${header}.${middle}`))
}

async function fetched (address) {
  const answer = await fetch(address, { cache: 'no-cache' })
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`)
  return answer.json()
}

let manifest

async function checkManifest () {
  manifest = undefined
  say('manifest', '', 'fetching…')
  const [found, keys] = await Promise.all([fetched(form.dataset.manifest), fetched(form.dataset.keys)])
  const files = Object.keys(found.files).length
  const expired = Date.parse(found.expiresAt) < Date.now()
  const foreign = found.service !== form.dataset.service
  say('manifest', expired || foreign ? 'bad' : 'good', `version ${found.version} of ${found.service}, ${files} files, signed ${found.signedAt}` +
    (expired ? ', expired by this machine’s clock' : '') + (foreign ? `, which is not ${form.dataset.service}` : ''))
  if (!await hasEd25519()) {
    say('signature', 'unknown', 'this browser has no Ed25519; use the command below, or a newer browser')
  } else if (await verifies(found, keys)) {
    say('signature', 'good', `ok: made by the key ${found.signature.kid}`)
  } else {
    say('signature', 'bad', 'not ok: it is not a signature of these keys over this manifest')
    return
  }
  manifest = found
  for (const cell of document.querySelectorAll('[data-size]')) {
    const file = found.files[cell.dataset.size]
    if (file) cell.textContent = size(file.bytes)
  }
}

async function checkFile (file) {
  if (!file || !manifest) return
  say('file', '', `${file.name}: hashing ${size(file.size)}…`)
  const digest = await sha256(await file.arrayBuffer())
  const same = ([, { sha256, bytes, staleSha256, staleBytes }]) =>
    (digest === sha256 && file.size === bytes) || (digest === staleSha256 && file.size === staleBytes)
  const named = Object.entries(manifest.files).find(same)
  if (named) say('file', 'good', `ok: it is ${named[0]}, byte for byte (SHA-256 ${digest})`)
  else say('file', 'bad', `not ok: no file of the manifest has the SHA-256 ${digest}`)
}

function begin () {
  const button = form.querySelector('button[type=submit]')
  const input = form.querySelector('input')
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    try {
      await checkManifest()
      input.disabled = !manifest
      await checkFile(input.files[0])
    } catch (error) {
      say('manifest', 'unknown', `it can’t be fetched and read now: ${error.message}`)
    } finally {
      button.disabled = false
    }
  })
  input.addEventListener('change', () => checkFile(input.files[0]).catch((error) => say('file', 'unknown', `it can’t be read: ${error.message}`)))
  button.disabled = false
}

if (form) {
  if (globalThis.crypto?.subtle) begin()
  else say('signature', 'unknown', 'this browser checks nothing on an insecure connection')
}
