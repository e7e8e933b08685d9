// Helpers for scripts that query the rate-limited API and fill a template with the answer. They import it by the address
// from which it was loaded.
const SHORTENED = [[1e12, 'T'], [1e9, 'B'], [1e6, 'M']]

/** Formats a number with about four significant digits and a scale. */
export function short (value) {
  const number = Number(value)
  if (Math.abs(number) >= 1e18) {
    const [digits, power] = number.toExponential(3).split('e+')
    return `${Number(digits)}\u202f×\u202f10${[...power].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]).join('')}`.replace('-', '−')
  }
  const [scale, sign] = SHORTENED.find(([scale]) => Math.abs(number) >= scale) ?? [1, '']
  const text = (number / scale).toLocaleString('en', { maximumSignificantDigits: scale === 1 && Math.abs(number) >= 1e4 ? 6 : 4 })
  return (sign ? `${text}\u202f${sign}` : text).replace('-', '−')
}

export function element (name, text, attributes = {}) {
  const made = document.createElement(name)
  made.textContent = text
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  return made
}

export const minutes = (at) => at.replace('T', ' ').slice(0, 16)

export function time (at) {
  return at ? element('time', `${minutes(at)} UTC`, { datetime: at }) : document.createTextNode('–')
}

/** Formats a share in per cent. */
export function percent (share) {
  return `${(100 * share).toLocaleString('en', { maximumSignificantDigits: 4 })}\u202f%`
}

/** Converts smallest units to whole tokens, accurately enough for drawing. */
export function decimal (raw, decimals) {
  return Number(raw) / 10 ** (decimals ?? 0)
}

/** Returns a link to what an address holds; `page` is the page that shows it, by default this one. */
export function addressLink (address, page = '') {
  const link = element('a', '', { href: `${page}?address=${address}` })
  link.append(element('code', `${address.slice(0, 6)}…${address.slice(-4)}`, { title: address }))
  return link
}

export function row (...cells) {
  const made = document.createElement('tr')
  for (const [content, className = ''] of cells) {
    const cell = element('td', '', className ? { class: className } : {})
    cell.append(content)
    made.append(cell)
  }
  return made
}

/** Writes texts and elements into the slots of these names. */
export function fill (found, values) {
  for (const [name, value] of Object.entries(values)) {
    for (const slot of found.querySelectorAll(`[data-slot="${name}"]`)) slot.replaceChildren(value instanceof Node ? value.cloneNode(true) : value)
  }
}

export const capitalized = (word) => word[0].toUpperCase() + word.slice(1)

/** Fetches an answer. Any other outcome is thrown, with its reason and how long to wait. */
export async function read (path) {
  const answer = await fetch(path)
  const body = await answer.json()
  if (answer.ok) return body
  const wait = answer.headers.get('Retry-After')
  const reason = answer.status === 429 ? 'Too many requests.' : body.detail
  throw new Error(wait ? `${reason} Try again in ${wait} s.` : reason)
}

/** Explains in words why there is no answer, from the error that was thrown. */
export function unanswered (error) {
  // A proxy between the browser and the service answers in HTML when the service does not answer.
  const isUnreadable = error instanceof TypeError || error instanceof SyntaxError
  return isUnreadable ? 'The answer can’t be read. Try again in a minute.' : `No answer: ${error.message}`
}
