// Compares two lists that the reader chooses: requests the comparison and fills the page's template with the answer. The
// choice is part of the page's address. The available lists are in a file, which is fetched when it is first needed.
const { addressLink, capitalized, decimal, element, fill, minutes, percent, read, row, short, time, unanswered } = await import(document.querySelector('script[src*="/filling."]').src)
const { records } = await import(document.querySelector('script[src*="/csv."]').src)
const choice = document.getElementById('choose')
const room = document.getElementById('comparison')
const DAY_MS = 86_400_000

const whole = (number) => number.toLocaleString('en')

function signed (text) {
  return text.startsWith('−') || text === '0' ? text : `+${text}`
}

function bar (length, name) {
  const drawing = document.getElementById('comparison-bar').content.firstElementChild.cloneNode(true)
  drawing.classList.add(name)
  drawing.firstElementChild.setAttribute('width', length)
  return drawing
}

function showMovers (found, name, movers, longest, decimals) {
  const table = found.querySelector(`[data-slot="${name}"]`)
  const [scroll, none] = [table.closest('.scroll'), table.closest('section').lastElementChild]
  for (const { address, changeRaw, rankBefore, rankAfter } of movers) {
    const change = element('data', signed(short(decimal(changeRaw, decimals))), { value: changeRaw, title: changeRaw })
    const length = 100 * Math.abs(Number(changeRaw)) / longest
    table.append(row([addressLink(address, room.dataset.holder)], [change, 'number'], [bar(length, name === 'up' ? 'buy' : 'sell'), 'share'], [`${rankBefore ?? 'none'} → ${rankAfter ?? 'none'}`, 'number']))
  }
  (movers.length ? none : scroll).remove()
}

function showCohorts (found, name, deltas) {
  const most = Math.max(...deltas.flatMap(({ before, after }) => [before, after]), 1)
  for (const { cohort, before, after, change } of deltas) {
    const bars = document.createDocumentFragment()
    bars.append(bar(100 * before / most, 'before'), bar(100 * after / most, 'after'))
    const made = row([whole(before), 'number'], [whole(after), 'number'], [signed(whole(change).replace('-', '−')), 'number'], [bars, 'share'])
    made.prepend(element('th', cohort.replaceAll('_', ' '), { scope: 'row' }))
    found.querySelector(`[data-slot="${name}"]`).append(made)
  }
}

function show (answer, query) {
  const found = document.getElementById('comparison-found').content.cloneNode(true)
  const { from, to, churn, movers, cohorts } = answer
  const quality = answer.stale ? 'stale' : answer.quality
  const [before, after] = [from, to].map(({ concentration }) => concentration.top10Share)
  fill(found, {
    from: String(from.block),
    to: String(to.block),
    fromTime: time(from.time),
    toTime: time(to.time),
    holdersBefore: whole(from.holders),
    holdersAfter: whole(to.holders),
    largest: before === null || after === null ? '' : `The ten largest went from ${percent(before)} to ${percent(after)}.`,
    entered: whole(churn.entered),
    left: whole(churn.left),
    retained: whole(churn.retained),
    rate: churn.rate === null ? '–' : percent(churn.rate),
    quality: capitalized(quality),
    source: answer.source ?? '–',
    observedAt: time(answer.observedAt),
    staleAfter: answer.staleAfter ? time(answer.staleAfter) : 'Never: a list of the past does not age',
    command: `curl "${room.dataset.url}?${query}"`
  })
  for (const data of found.querySelectorAll('data[data-slot]')) data.value = churn[data.dataset.slot] ?? ''
  for (const mark of found.querySelectorAll('.mark')) {
    mark.classList.add(quality)
    mark.title = mark.textContent
  }
  if (!answer.stale && answer.staleAfter) found.querySelector('#from-chosen').dataset.staleAfter = answer.staleAfter
  found.querySelector('[data-link]').href = `${room.dataset.api}?${query}`
  const longest = Math.max(...[...movers.up, ...movers.down].map(({ changeRaw }) => Math.abs(Number(changeRaw))), 1)
  for (const name of ['up', 'down']) showMovers(found, name, movers[name], longest, answer.token?.decimals)
  for (const name of ['size', 'age']) showCohorts(found, name, cohorts[name])
  room.replaceChildren(found)
  document.dispatchEvent(new CustomEvent('content', { detail: room }))
}

function begin () {
  const form = document.getElementById('choose-lists')
  const { from, to } = form.elements
  const said = document.getElementById('choose-said')
  const published = [...room.childNodes]
  const lists = []
  let shown = choice.dataset
  let asked = 0

  function tell (words) {
    said.textContent = ''
    room.replaceChildren(element('p', words, { class: 'note', role: 'alert' }))
  }

  /** Compares the lists in the page's address. If several comparisons were requested, the last one counts. */
  async function compare () {
    const own = asked += 1
    const named = new URLSearchParams(location.search)
    const query = new URLSearchParams()
    for (const side of ['from', 'to']) if (named.get(side)) query.set(`${side}_block`, named.get(side))
    if (!query.size) {
      said.textContent = ''
      room.replaceChildren(...published)
      select(choice.dataset)
      return
    }
    choice.open = true
    if (named.get('from') === named.get('to')) return tell(`Nothing to compare: both sides are block ${named.get('to')}.`)
    said.textContent = 'Asking…'
    try {
      const answer = await read(`${room.dataset.api}?${query}`)
      if (own !== asked) return
      show(answer, query)
      select({ from: String(answer.from.block), to: String(answer.to.block) })
      said.textContent = `Block ${answer.from.block} and block ${answer.to.block} are compared below.`
    } catch (error) {
      if (own === asked) tell(unanswered(error))
    }
  }

  /** Writes a choice into the page's address, the earlier list first. */
  function choose () {
    const [earlier, later] = [from.value, to.value].sort((a, b) => a - b);
    [from.value, to.value] = [earlier, later]
    history.pushState(null, '', `?from=${earlier}&to=${later}`)
    compare()
  }

  /** Returns the newest list that is at least `days` older than the newest of all; without `days` the oldest one. */
  function listBefore (days) {
    const newest = Date.parse(lists[0].block_time)
    return days ? lists.find(({ block_time: at }) => newest - Date.parse(at) >= days * DAY_MS) : lists.at(-1)
  }

  /** Sets the fields to the blocks that are shown, including a block without a list. */
  function select (blocks) {
    shown = blocks
    if (!lists.length) return
    for (const side of [from, to]) {
      const block = blocks[side.name]
      if (![...side.options].some(({ value }) => value === block)) side.append(new Option(`Block ${block}`, block))
      side.value = block
    }
  }

  async function offer () {
    try {
      const answer = await fetch(choice.dataset.lists, { cache: 'no-cache' })
      if (!answer.ok) throw new Error(`answered ${answer.status}`)
      lists.push(...records(await answer.text()).sort((a, b) => b.block - a.block))
    } catch (error) {
      said.textContent = `The list of blocks can’t be shown now (${error.message}).`
      return
    }
    for (const side of [from, to]) {
      side.append(...lists.map((list) => new Option(`${minutes(list.block_time)} UTC, block ${list.block}: ${whole(Number(list.holders))} holders`, list.block)))
    }
    select(shown)
    for (const each of form.elements) each.disabled = false
    for (const button of form.querySelectorAll('[data-days]')) {
      const list = listBefore(Number(button.dataset.days))
      button.disabled = !list
      if (!list) button.title = 'The lists don’t go back that far'
      button.addEventListener('click', () => {
        [from.value, to.value] = [list.block, lists[0].block]
        choose()
      })
    }
  }

  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    choose()
  })
  choice.addEventListener('toggle', offer, { once: true })
  addEventListener('popstate', compare)
  compare()
}

if (choice) begin()
