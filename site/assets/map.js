// The map of holders, drawn on a canvas above the page's own picture: it can be moved and zoomed, and shows up to two
// thousand holders of any published list. The lists are files, so no request goes to the rate-limited API.
const { Plane } = await import(document.querySelector('script[src*="/plane."]').src)
const { records } = await import(document.querySelector('script[src*="/csv."]').src)
const figure = document.querySelector('[data-lists]')
const COHORTS = figure ? figure.dataset.cohorts.split(' ').map((one) => one.split(':')) : []
const GAP = 0.004
const MOVING_MS = 400
const NAMED = 5

/** Returns the transfers among the largest holders of one list, by their ranks in it: sender, recipient, number and amount. */
const links = [...document.querySelectorAll('#links tr')].map((row) => {
  const [from, to] = row.dataset.ranks.split(' ').map(Number)
  const [, , transfers, amount] = row.cells
  return { from, to, transfers: transfers.textContent, amount: amount.textContent, width: Number(amount.firstElementChild.value) }
})
const widest = links.reduce((most, { width }) => Math.max(most, width), 0) || 1

/** Returns the first rows of a published list, largest holder first. The rest is not read. */
async function largest (block, most) {
  const answer = await fetch(`${figure.dataset.files}holders-${block}.csv.gz`)
  if (!answer.ok) throw new Error(`the list of block ${block} is not here`)
  const reader = answer.body.pipeThrough(new DecompressionStream('gzip')).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  let lines = 0
  while (lines <= most) {
    const { value, done } = await reader.read()
    if (done) break
    text += value
    lines += value.split('\n').length - 1
  }
  reader.cancel()
  return text.split('\n').slice(1, most + 1).filter(Boolean).map((line) => line.split(','))
}

class HolderMap extends Plane {
  constructor () {
    super('The largest holders as circles. Arrows move the map, plus and minus zoom, N and P choose the next and the previous holder; the list below has the same holders.')
    this.canvas.addEventListener('keydown', ({ key }) => {
      const step = { n: 1, p: -1 }[key]
      const at = this.holders.findIndex(({ address }) => address === this.chosen) + step
      if (step) this.choose(this.holders[Math.min(Math.max(at, 0), this.holders.length - 1)])
    })
    this.holders = []
    this.contracts = new Set([...figure.querySelectorAll('circle.contract')].map((circle) => circle.closest('a').getAttribute('href').slice(1)))
    this.readColours()
  }

  readColours () {
    const of = getComputedStyle(document.documentElement)
    const colour = (name) => of.getPropertyValue(`--${name}`).trim()
    this.colours = Object.fromEntries(['ink', 'focus', 'on-whale', ...COHORTS.map(([name]) => name)].map((name) => [name, colour(name)]))
  }

  /** Shows the list of a block, given as rows of address and balance, largest first, and the sum of all balances. */
  take (rows, sum, block) {
    this.isLinked = block === figure.dataset.edges
    const before = new Map(this.holders.map((holder) => [holder.address, holder]))
    const total = Number(sum)
    this.holders = rows.map(([address, raw], at) => {
      const share = Number(raw) / total
      return { address, share, rank: at + 1, r: Math.sqrt(share), cohort: COHORTS.find(([, least]) => share >= least)[0] }
    })
    const least = Math.max(this.holders[0]?.r ?? 0, 1e-9) * 1e-4
    for (const holder of this.holders) holder.r = Math.max(holder.r, least)
    globalThis.d3.packSiblings(this.holders)
    for (const holder of this.holders) {
      const { x, y, r } = holder
      const from = before.get(holder.address)?.now ?? { x, y, r: 0 }
      Object.assign(holder, { from: { ...from }, to: { x, y, r }, now: { ...from } })
    }
    this.centre()
    this.travel(before.size > 0)
    this.choose(this.holders.find(({ address }) => address === this.chosen))
  }

  /** Moves every circle from its former place to its new one. */
  travel (slowly) {
    cancelAnimationFrame(this.moving)
    const start = performance.now()
    const still = !slowly || matchMedia('(prefers-reduced-motion: reduce)').matches
    const step = (at) => {
      const part = still ? 1 : Math.min((at - start) / MOVING_MS, 1)
      const eased = 1 - (1 - part) ** 3
      for (const { now, from, to } of this.holders) {
        for (const name of ['x', 'y', 'r']) now[name] = from[name] + (to[name] - from[name]) * eased
      }
      this.draw()
      if (part < 1) this.moving = requestAnimationFrame(step)
    }
    step(start)
  }

  centre () {
    const edges = (name, sign) => this.holders.map(({ to }) => to[name] + sign * to.r)
    const [left, right] = [edges('x', -1).reduce((a, b) => Math.min(a, b), Infinity), edges('x', 1).reduce((a, b) => Math.max(a, b), -Infinity)]
    const [top, bottom] = [edges('y', -1).reduce((a, b) => Math.min(a, b), Infinity), edges('y', 1).reduce((a, b) => Math.max(a, b), -Infinity)]
    this.bounds = { x: (left + right) / 2, y: (top + bottom) / 2, across: Math.max(right - left, bottom - top) }
    this.fitAll()
  }

  fitAll () {
    if (!this.size || !this.bounds) return
    const { width, height } = this.size
    const scale = Math.min(width, height) / this.bounds.across
    this.unit = scale
    this.view = { zoom: 1, x: width / 2 - this.bounds.x * scale, y: height / 2 - this.bounds.y * scale }
    this.draw()
  }

  place ({ now }) {
    const scale = this.unit * this.view.zoom
    return [now.x * scale + this.view.x, now.y * scale + this.view.y, Math.max(now.r * scale * (1 - GAP) - 0.75, 0.5)]
  }

  paint () {
    const { pen, colours, size: { width, height } } = this
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0)
    pen.clearRect(0, 0, width, height)
    const seen = this.holders.map((holder) => [holder, ...this.place(holder)]).filter(([, x, y, r]) => x > -r && y > -r && x < width + r && y < height + r)
    for (const [cohort] of COHORTS) {
      pen.fillStyle = colours[cohort]
      pen.beginPath()
      for (const [holder, x, y, r] of seen) {
        if (holder.cohort !== cohort) continue
        pen.moveTo(x + r, y)
        pen.arc(x, y, r, 0, 7)
      }
      pen.fill()
    }
    for (const [holder, x, y, r] of seen) {
      const isChosen = holder.address === this.chosen
      if (!isChosen && !this.contracts.has(holder.address)) continue
      pen.strokeStyle = isChosen ? colours.focus : colours.ink
      pen.lineWidth = isChosen ? 4 : 3
      pen.beginPath()
      pen.arc(x, y, r, 0, 7)
      pen.stroke()
    }
    for (const { from, to, width } of this.linksOf(this.holders.find(({ address }) => address === this.chosen))) {
      const [[x, y], [toX, toY]] = [from, to].map((rank) => this.place(this.holders[rank - 1]))
      pen.strokeStyle = colours.focus
      pen.lineWidth = 1.5 + 5 * Math.sqrt(width / widest)
      pen.beginPath()
      pen.moveTo(x, y)
      pen.lineTo(toX, toY)
      pen.stroke()
    }
    pen.textAlign = 'center'
    for (const [holder, x, y, r] of seen) {
      if (r < 34 || !['whale', 'shark'].includes(holder.cohort)) continue
      pen.fillStyle = colours['on-whale']
      pen.font = '620 14px system-ui, sans-serif'
      pen.fillText(percent(holder.share), x, y + (r > 55 ? 14 : 5))
      if (r > 55) pen.fillText(short(holder.address), x, y - 6)
    }
  }

  /** Returns the holder at a place, or the nearest one within a few pixels. */
  under (x, y) {
    let best = null
    let least = 8
    for (const holder of this.holders) {
      const [atX, atY, r] = this.place(holder)
      const beside = Math.hypot(atX - x, atY - y) - r
      if (beside < least) [best, least] = [holder, beside]
    }
    return best
  }

  title (holder) { return holder ? `${holder.rank}. ${short(holder.address)}: ${percent(holder.share)}` : '' }

  /** Returns the transfers between a holder and other drawn holders. */
  linksOf (holder) {
    if (!holder || !this.isLinked) return []
    return links.filter(({ from, to }) => [from, to].includes(holder.rank) && Math.max(from, to) <= this.holders.length)
  }

  choose (holder) {
    this.chosen = holder?.address
    const said = document.getElementById('map-chosen')
    if (holder) {
      said.replaceChildren(linkTo(holder), ` is number ${holder.rank} and holds ${percent(holder.share)}, a ${holder.cohort}.`, ...this.sayLinks(holder))
    } else said.replaceChildren()
    this.draw()
  }

  /** Lists who sent to a holder and to whom it sent. */
  sayLinks (holder) {
    if (!figure.dataset.edges) return []
    if (!this.isLinked) return [` Transfers are drawn in the list of block ${figure.dataset.edges}.`]
    const found = this.linksOf(holder)
    if (!found.length) return [` None of the transfers below is its.`]
    const words = found.slice(0, NAMED).flatMap(({ from, to, transfers, amount }, at) => {
      const isSent = from === holder.rank
      return [`${at ? '; ' : ''}${isSent ? 'to' : 'from'} `, linkTo(this.holders[(isSent ? to : from) - 1]), ` ${amount} in ${transfers}`]
    })
    return [` Transfers in ${figure.dataset.days} days: `, ...words, found.length > NAMED ? `; and ${found.length - NAMED} more.` : '.']
  }
}

function linkTo ({ address }) {
  const link = document.createElement('a')
  link.href = `${figure.dataset.holder}?address=${address}`
  link.textContent = short(address)
  return link
}

const short = (address) => `${address.slice(0, 6)}…${address.slice(-4)}`
const percent = (share) => `${(100 * share).toLocaleString('en', { maximumSignificantDigits: 3 })}\u202f%`

/** Counts the drawn holders by size in the legend, and states what the others of `all` hold. */
function tellSizes (holders, all) {
  for (const count of figure.querySelectorAll('[data-cohort]')) {
    count.textContent = holders.filter(({ cohort }) => cohort === count.dataset.cohort).length.toLocaleString('en')
    count.closest('.key').hidden = count.textContent === '0'
  }
  const others = all - holders.length
  const share = Math.max(1 - holders.reduce((sum, holder) => sum + holder.share, 0), 0)
  const held = (100 * share).toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })
  document.getElementById('map-others').textContent = others > 0 ? `The other ${others.toLocaleString('en')} hold ${held}\u202f%.` : ''
}

async function begin () {
  const slider = document.getElementById('map-time')
  const most = document.getElementById('map-most')
  const said = document.getElementById('map-said')
  let lists
  let map
  let asked = 0

  /** Shows the list that the slider selects. If several were requested, the last one counts. */
  async function show () {
    const own = asked += 1
    const list = lists[Number(slider.value)]
    const words = `block ${list.block}, ${list.block_time.slice(0, 16).replace('T', ' ')} UTC: ${Number(list.holders).toLocaleString('en')} holders`
    slider.setAttribute('aria-valuetext', words)
    said.textContent = `${Number(slider.value) === lists.length - 1 ? 'The newest list' : `List ${Number(slider.value) + 1} of ${lists.length}`}, ${words}`
    const rows = await largest(list.block, Number(most.value))
    if (own !== asked) return
    map.take(rows, list.sum_raw, list.block)
    tellSizes(map.holders, Number(list.holders))
    figure.dataset.block = list.block
  }

  try {
    const answer = await fetch(`${figure.dataset.files}holder_lists.csv`, { cache: 'no-cache' })
    if (!answer.ok) throw new Error(`answered ${answer.status}`)
    lists = records(await answer.text()).sort((a, b) => a.block - b.block)
    if (!lists.length) throw new Error('there is none yet')
    map = new HolderMap()
    slider.max = lists.length - 1
    slider.value = slider.max
    await show()
  } catch (error) {
    said.textContent = `Past lists can’t be shown now (${error.message}). The picture is of the newest list.`
    return
  }
  const drawing = figure.querySelector('.drawing')
  drawing.querySelector('svg').inert = true
  drawing.insertBefore(map.canvas, drawing.querySelector('.zoom'))
  map.begin(drawing.querySelector('.zoom'))
  slider.disabled = most.disabled = false
  const failed = (error) => { said.textContent = `That list can’t be shown now (${error.message}).` }
  slider.addEventListener('input', () => show().catch(failed))
  most.addEventListener('change', () => show().catch(failed))
}

if (figure) begin()
