// What the shell adds to every page: copying, live ages, the source drawer of a number, and what is served now.
const CLIPBOARD = Boolean(navigator.clipboard)

/** Shows the copy buttons, which need a script. */
function showCopying (root) {
  for (const button of root.querySelectorAll('[data-copy], [data-text]')) button.hidden = !CLIPBOARD
}

document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('[data-copy], [data-text]')
  if (!button) return
  const text = button.dataset.text ?? document.getElementById(button.dataset.copy).textContent
  const label = button.firstChild
  try {
    await navigator.clipboard.writeText(text)
    label.textContent = 'Copied'
  } catch {
    label.textContent = 'Not copied'
  }
  setTimeout(() => { label.textContent = 'Copy' }, 2000)
})

function element (name, text = '', className = '') {
  const made = document.createElement(name)
  made.textContent = text
  if (className) made.className = className
  return made
}

// Times

/** Milliseconds by which the service's clock is ahead of this machine's. */
let ahead = 0
const now = () => Date.now() + ahead
const UNITS = [['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** Describes the distance of a time from now, by the service's clock. */
function age (at) {
  const seconds = Math.round((at - now()) / 1000)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS.at(-1)
  return relative.format(Math.trunc(seconds / size), unit)
}

function tick () {
  for (const time of document.querySelectorAll('time')) {
    const text = age(Date.parse(time.dateTime))
    time.title = text
    if (time.classList.contains('live')) time.dataset.age = text
  }
  for (const source of document.querySelectorAll('[data-stale-after]')) {
    const { staleAfter } = source.dataset
    if (Date.parse(staleAfter) <= now()) expire(source, `${staleAfter.slice(0, 16).replace('T', ' ')} UTC`)
  }
}

/**
 * Marks the numbers and drawings of a source as stale after this page was loaded and nothing newer has arrived. `since` is
 * a time in words, and `reason` explains why they are stale early.
 */
function expire (source, since, reason = '') {
  const title = source.dataset.title
  delete source.dataset.staleAfter
  for (const drawing of document.querySelectorAll(`[data-from="${source.id.slice('from-'.length)}"]`)) {
    drawing.classList.add('stale')
    const said = drawing.querySelector('.since')
    said.textContent = `Stale since ${since}`
    said.hidden = false
  }
  for (const mark of document.querySelectorAll(`.mark[href="#${source.id}"], #${source.id} summary .mark`)) {
    if (mark.classList.contains('missing')) continue
    mark.className = 'mark stale'
    mark.closest('.figure')?.classList.add('stale')
    const words = mark.querySelector('.unseen')
    if (words) mark.title = words.textContent = 'Stale'
  }
  for (const lane of document.querySelectorAll(`[data-lane="${source.id}"]`)) {
    lane.firstElementChild.className = 'mark stale'
    lane.lastElementChild.textContent = 'stale'
  }
  const line = element('p')
  line.append(element('strong', `${title}: stale`), ` since ${since}${reason}.`)
  notices().prepend(line)
}

/** Announces events while the page is open at the edge of the window, where this moves no content. */
function notices () {
  let box = document.getElementById('notices')
  if (!box) {
    box = element('div', '', 'notices')
    box.id = 'notices'
    box.setAttribute('role', 'status')
    const hide = element('button', 'Hide', 'copy-text')
    hide.type = 'button'
    hide.addEventListener('click', () => box.remove())
    box.append(hide)
    document.body.append(box)
  }
  return box
}

// The source drawer of a number: where it comes from, how far to trust it, and how to prove it again

const drawer = element('dialog', '', 'drawer')
drawer.setAttribute('aria-labelledby', 'drawer-title')

function openDrawer (mark) {
  const source = document.querySelector(mark.hash)
  const data = mark.closest('.figure')?.querySelector('data')
  const label = mark.closest('.tile')?.querySelector('dt')?.textContent
  const title = element('h2', label ?? source.dataset.title)
  title.id = 'drawer-title'
  const close = element('button', 'Close', 'close')
  close.type = 'button'
  close.addEventListener('click', () => drawer.close())
  const facts = source.querySelector('dl').cloneNode(true)
  const body = element('div', '', 'source')
  body.append(facts)
  drawer.replaceChildren(close, title)
  if (data) {
    const unit = mark.closest('.figure').querySelector('.unit')?.textContent ?? ''
    drawer.append(element('p', `${data.textContent} ${unit}`.trim(), 'value'))
  }
  const state = mark.classList[1]
  const meaning = document.querySelector(`#marks [data-state="${state}"]`)?.textContent
  drawer.append(element('p', `${mark.title}. From: ${source.dataset.title}.`, 'help'))
  if (meaning) drawer.append(element('p', `What ${state} means here: ${meaning}.`, 'help'))
  if (data?.value && data.value !== data.textContent) {
    const row = element('div')
    const exact = element('dd')
    const copy = element('button', 'Copy', 'copy-text')
    copy.type = 'button'
    copy.dataset.text = data.value
    exact.append(element('code', data.value), ' ', copy)
    row.append(element('dt', 'Exactly'), exact)
    facts.prepend(row)
  }
  drawer.append(body)
  showCopying(drawer)
  if (!drawer.isConnected) document.body.append(drawer)
  drawer.showModal()
  tick()
}

document.addEventListener('click', (event) => {
  if (event.target === drawer) drawer.close()
  const mark = event.target.closest?.('a.mark[href^="#from-"]')
  if (!mark || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  openDrawer(mark)
})

/** Decodes a part of an address; returns it unchanged if it can't be decoded. */
export function decoded (part) {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Opens the source that the page's address links to. */
function openSource () {
  const target = document.getElementById(decoded(location.hash.slice(1)))
  if (target instanceof HTMLDetailsElement) target.open = true
}
addEventListener('hashchange', openSource)

// What is served now

let shown

/** Returns whether any number is stale by the service's clock: the state, a short and a long text. */
function stateOf ({ documents }) {
  const all = Object.values(documents)
  const stale = all.filter(({ staleAfter, staleReason }) => staleReason || (staleAfter && Date.parse(staleAfter) <= now()))
  if (!stale.length) return ['current', 'All current', `All ${all.length} documents are current.`]
  const others = stale.length > 4 ? `, and ${stale.length - 3} others` : ''
  const names = stale.slice(0, others ? 3 : 4).map(({ title }) => title).join(', ')
  return ['stale', `${stale.length} stale`, `Stale, ${stale.length} of ${all.length} documents: ${names}${others}.`]
}

/** Shows the state next to the name of the service, at the same place on every page. */
function showHealth (state, words) {
  const [mark, text] = document.querySelectorAll('#health span')
  mark.className = `mark ${state}`
  text.textContent = words
}

/** Shows the same as a sentence, if the page has a place for it. */
function tellHealth (words) {
  for (const place of document.querySelectorAll('[data-health]')) place.textContent = words
}

/** Marks what the service reports as stale early because a check failed or a source can't be read. */
function expireNamed ({ documents }) {
  for (const source of document.querySelectorAll('.source[data-stale-after]')) {
    const reason = documents[source.dataset.document]?.staleReason
    if (reason) expire(source, 'the last run', ` (${reason.replaceAll('_', ' ')})`)
  }
}

async function look () {
  const line = document.getElementById('now')
  try {
    const answer = await fetch(document.body.dataset.now, { cache: 'no-cache' })
    const served = await answer.json()
    // A cache between the browser and the service sends the Date of its copy, and the copy's age.
    const date = Date.parse(answer.headers.get('date')) + 1000 * (Number(answer.headers.get('age')) || 0)
    if (date) ahead = date - Date.now()
    const [state, short, words] = stateOf(served)
    showHealth(state, short)
    tellHealth(words)
    expireNamed(served)
    const dot = element('span', '', `mark ${state}`)
    dot.setAttribute('aria-hidden', 'true')
    const block = served.block === null ? '' : ` The newest list of holders is of block ${served.block}.`
    line.replaceChildren(dot, ` ${words} Generation ${served.generation} was made ${age(Date.parse(served.createdAt))}.${block}`)
    const own = served.pages[document.body.dataset.page]
    shown ??= own
    if (own !== shown) offerReload()
  } catch {
    showHealth('unknown', 'No answer')
    line.textContent = 'The service does not answer now. The numbers are as of the times shown next to them.'
  }
  line.hidden = false
  tick()
}

function offerReload () {
  if (document.getElementById('newer')) return
  const offer = element('p', 'Newer numbers are published. ')
  offer.id = 'newer'
  const reload = element('button', 'Show them', 'button')
  reload.type = 'button'
  reload.addEventListener('click', () => location.reload())
  offer.append(reload)
  notices().append(offer)
}

// Scripts dispatch `content` after they have filled a part of the page.
document.addEventListener('content', (event) => {
  showCopying(event.detail)
  tick()
})
showCopying(document)
openSource()
tick()
look()
setInterval(tick, 10_000)
setInterval(look, 60_000)
// A page that was hidden for long updates its state at once.
document.addEventListener('visibilitychange', () => { if (!document.hidden) look() })
