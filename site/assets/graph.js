// The explorer of the world model: search, filter, zoom and drag over the published nodes. It draws on a canvas above the
// page's own picture, which remains for printing and for readers without scripts.
const { Plane } = await import(document.querySelector('script[src*="/plane."]').src)
const { decoded } = await import(document.querySelector('script[src*="/site."]').src)
const explorer = document.querySelector('[data-graph]')

const RELATIONS_SHOWN = 12
const RESULTS_SHOWN = 24

function element (name, className, ...content) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.append(...content)
  return made
}

/** The published nodes: a file that was compressed once, named by its content. */
async function fetched (address) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`answered ${answer.status}`)
  const plain = answer.body.pipeThrough(new DecompressionStream('gzip'))
  return new Response(plain).json()
}

/** Scores how well a node matches words: the beginning of a title counts most, a description least; 0 if a word is missing. */
function fit (node, words) {
  let sum = 0
  for (const word of words) {
    const at = node.words.title.indexOf(word)
    const found = at === 0 ? 8 : at > 0 ? (/\W/.test(node.words.title[at - 1]) ? 5 : 3) : node.words.rest.includes(word) ? 1 : 0
    if (!found) return 0
    sum += found
  }
  return sum + Math.min(node.weight, 50) / 100
}

/** Returns the corners of the convex hull of points. */
function outline (points) {
  const ordered = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1])
  if (ordered.length < 3) return ordered
  const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
  const half = (of) => {
    const corners = []
    for (const point of of) {
      while (corners.length > 1 && turn(corners.at(-2), corners.at(-1), point) <= 0) corners.pop()
      corners.push(point)
    }
    return corners.slice(0, -1)
  }
  return [...half(ordered), ...half(ordered.reverse())]
}

class Explorer extends Plane {
  constructor (graph) {
    super('The graph. Arrows move it, plus and minus zoom; search and lists lead to each node.')
    this.nodes = graph.nodes
    this.byId = new Map()
    for (const node of this.nodes) {
      node.near = []
      node.radius = Math.min(4 + 1.6 * Math.sqrt(node.weight), 15)
      node.words = { title: node.title.toLowerCase(), rest: `${node.type} ${node.domain} ${node.description ?? ''} ${node.source ?? ''}`.toLowerCase() }
      this.byId.set(node.id, node)
    }
    this.edges = graph.edges.map(([from, to, type]) => {
      const edge = { from: this.nodes[from], to: this.nodes[to], type }
      edge.from.near.push({ node: edge.to, type, direction: 'to' })
      edge.to.near.push({ node: edge.from, type, direction: 'from' })
      return edge
    })
    this.off = new Set()
    this.chosen = null
    this.start = null
    this.path = []
    this.readColours()
  }

  // Drawing

  readColours () {
    const of = getComputedStyle(document.documentElement)
    const colour = (name) => of.getPropertyValue(`--${name}`).trim()
    this.colours = { ink: colour('ink'), soft: colour('soft'), ground: colour('raised'), focus: colour('focus') }
    this.ofDomain = Object.fromEntries([...document.querySelectorAll('[data-domain]')].map(({ dataset: { domain } }) => [domain, colour(domain.toLowerCase())]))
  }

  show (figure) {
    figure.querySelector('svg').inert = true
    figure.insertBefore(this.canvas, figure.querySelector('.zoom'))
    this.begin(figure.querySelector('.zoom'))
  }

  visible (node) { return !this.off.has(node.domain) }

  fitAll () {
    const shown = this.nodes.filter((node) => this.visible(node))
    if (!shown.length || !this.size) return
    const [left, right] = [Math.min(...shown.map(({ x }) => x)), Math.max(...shown.map(({ x }) => x))]
    const [top, bottom] = [Math.min(...shown.map(({ y }) => y)), Math.max(...shown.map(({ y }) => y))]
    const { width, height } = this.size
    this.stretch = ((width - 80) / (right - left || 1)) / ((height - 90) / (bottom - top || 1))
    this.stretch = Math.min(Math.max(this.stretch, 0.6), 2)
    const zoom = Math.min((width - 80) / ((right - left || 1) * this.stretch), (height - 90) / (bottom - top || 1))
    this.view = { zoom, x: width / 2 - (left + right) / 2 * this.stretch * zoom, y: height / 2 - 6 - (top + bottom) / 2 * zoom }
    this.draw()
  }

  place (node) { return [node.x * this.stretch * this.view.zoom + this.view.x, node.y * this.view.zoom + this.view.y] }

  paint () {
    const { pen, colours, size: { width, height } } = this
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0)
    pen.clearRect(0, 0, width, height)
    const grown = Math.min(Math.max(Math.sqrt(this.view.zoom / (width / 1000)), 0.6), 2.2) * (this.nodes.length > 600 ? 0.7 : 1) * Math.min(Math.max(width / 800, 0.6), 1)
    const near = new Set(this.path.length ? this.path.map(({ node }) => node) : this.chosen ? [this.chosen, ...this.chosen.near.map(({ node }) => node)] : [])
    const names = this.outlines(grown)
    pen.lineWidth = 0.8
    pen.strokeStyle = colours.soft
    pen.globalAlpha = near.size ? 0.12 : 0.4
    pen.beginPath()
    for (const { from, to } of this.edges) {
      if (!this.visible(from) || !this.visible(to)) continue
      pen.moveTo(...this.place(from))
      pen.lineTo(...this.place(to))
    }
    pen.stroke()
    if (this.path.length) this.paintPath()
    else if (this.chosen) {
      pen.globalAlpha = 0.9
      pen.lineWidth = 1.6
      pen.beginPath()
      for (const { node } of this.chosen.near) {
        if (!this.visible(node)) continue
        pen.moveTo(...this.place(this.chosen))
        pen.lineTo(...this.place(node))
      }
      pen.stroke()
    }
    for (const [domain, colour] of Object.entries(this.ofDomain)) {
      if (this.off.has(domain)) continue
      pen.fillStyle = colour
      for (const faint of [true, false]) {
        pen.globalAlpha = faint ? 0.25 : 1
        pen.beginPath()
        for (const node of this.nodes) {
          if (node.domain !== domain || (near.size > 0 && !near.has(node)) !== faint) continue
          const [x, y] = this.place(node)
          if (x < -20 || y < -20 || x > width + 20 || y > height + 20) continue
          pen.moveTo(x + node.radius * grown, y)
          pen.arc(x, y, node.radius * grown, 0, 7)
        }
        pen.fill()
      }
    }
    pen.globalAlpha = 1
    this.label(near, grown, names)
    if (this.chosen && this.visible(this.chosen)) {
      const [x, y] = this.place(this.chosen)
      pen.strokeStyle = colours.focus
      pen.lineWidth = 3
      pen.beginPath()
      pen.arc(x, y, this.chosen.radius * grown + 4, 0, 7)
      pen.stroke()
    }
  }

  paintPath () {
    const { pen } = this
    pen.globalAlpha = 1
    pen.lineWidth = 4
    pen.strokeStyle = this.colours.focus
    pen.beginPath()
    this.path.forEach(({ node }, at) => at ? pen.lineTo(...this.place(node)) : pen.moveTo(...this.place(node)))
    pen.stroke()
  }

  /** Draws an outline around each domain; returns their names with their places. */
  outlines (grown) {
    const { pen } = this
    pen.lineJoin = 'round'
    pen.globalAlpha = 0.09
    return Object.entries(this.ofDomain).filter(([domain]) => !this.off.has(domain)).flatMap(([domain, colour]) => {
      const corners = outline(this.nodes.filter((node) => node.domain === domain).map((node) => this.place(node)))
      if (!corners.length) return []
      pen.fillStyle = pen.strokeStyle = colour
      pen.lineWidth = 40 * grown
      pen.beginPath()
      corners.forEach(([x, y], at) => at ? pen.lineTo(x, y) : pen.moveTo(x, y))
      pen.closePath()
      pen.fill()
      pen.stroke()
      const x = corners.reduce((sum, [x]) => sum + x, 0) / corners.length
      return [{ text: domain, x, y: Math.max(Math.min(...corners.map(([, y]) => y)) - 26 * grown, 16) }]
    })
  }

  /**
   * Titles of the chosen node and its neighbours, else of the best connected ones, where no other title and no other
   * node lies. A small picture has fewer.
   */
  label (near, grown, names) {
    const { pen, colours, size: { width, height } } = this
    const taken = []
    pen.textAlign = 'center'
    pen.lineWidth = 3.5
    pen.strokeStyle = colours.ground
    pen.font = '680 13px system-ui, sans-serif'
    pen.fillStyle = colours.soft
    for (const { text, x, y: above } of names) {
      const half = pen.measureText(text).width / 2
      let y = above
      while (taken.some(([left, top, right, bottom]) => x - half < right && left < x + half && y - 13 < bottom && top < y + 3)) y += 4
      taken.push([x - half, y - 13, x + half, y + 3])
      pen.strokeText(text, x, y)
      pen.fillText(text, x, y)
    }
    pen.font = '12px system-ui, sans-serif'
    pen.fillStyle = colours.ink
    const most = near.size ? 60 : Math.min(width * height / 16_000, 45) + names.length
    const middles = near.size ? [] : this.nodes.filter((node) => this.visible(node)).map((node) => [node, ...this.place(node)])
    for (const node of near.size ? near : this.nodes) {
      if (taken.length >= most) break
      if (!this.visible(node)) continue
      const [x, y] = this.place(node)
      if (x < 0 || y < 0 || x > width || y > height) continue
      const text = node.title.length > 34 ? `${[...node.title].slice(0, 33).join('')}…` : node.title
      const half = (node.width ??= pen.measureText(text).width) / 2
      const middle = Math.min(Math.max(x, half + 4), width - half - 4)
      const base = y + node.radius * grown + 13
      const box = [middle - half - 2, base - 12, middle + half + 2, base + 3]
      if (middles.some(([other, atX, atY]) => other !== node && box[0] < atX && atX < box[2] && box[1] < atY && atY < box[3])) continue
      if (taken.some(([left, top, right, bottom]) => box[0] < right && left < box[2] && box[1] < bottom && top < box[3])) continue
      taken.push(box)
      pen.strokeText(text, middle, base)
      pen.fillText(text, middle, base)
    }
  }

  // Finding

  under (x, y) {
    let best = null
    let least = 18 ** 2
    for (const node of this.nodes) {
      if (!this.visible(node)) continue
      const [atX, atY] = this.place(node)
      const distance = (atX - x) ** 2 + (atY - y) ** 2
      if (distance < least) { least = distance; best = node }
    }
    return best
  }

  move (node, dx, dy) {
    node.x += dx / (this.stretch * this.view.zoom)
    node.y += dy / this.view.zoom
  }

  title (node) { return node?.title ?? '' }

  // Choosing

  choose (node, { tell = true } = {}) {
    if (node && this.start && node !== this.start) return this.showPath(this.start, node)
    this.start = null
    this.path = []
    this.chosen = node
    const card = document.getElementById('graph-card')
    card.className = node ? `card ${node.domain}` : 'card'
    card.replaceChildren(...(node ? this.card(node) : [element('p', 'help', 'Choose a node in the picture or with the search.')]))
    if (node && tell) history.replaceState(null, '', `#node:${encodeURIComponent(node.id).replaceAll('%3A', ':')}`)
    if (node && this.size) {
      const [x, y] = this.place(node)
      if (x < 30 || y < 30 || x > this.size.width - 30 || y > this.size.height - 30) {
        this.view.x += this.size.width / 2 - x
        this.view.y += this.size.height / 2 - y
      }
    }
    this.draw()
  }

  /** Returns a shortest path between two nodes over the shown domains, ignoring the direction of edges; empty if there is none. */
  pathBetween (start, end) {
    const reached = new Map([[start, { node: start }]])
    const next = [start]
    for (const node of next) {
      if (node === end) break
      for (const step of node.near) {
        if (reached.has(step.node) || !this.visible(step.node)) continue
        reached.set(step.node, { ...step, before: node })
        next.push(step.node)
      }
    }
    const path = []
    for (let step = reached.get(end); step; step = reached.get(step.before)) path.unshift(step)
    return path
  }

  showPath (start, end, { tell = true } = {}) {
    this.start = null
    this.chosen = end
    this.path = this.pathBetween(start, end)
    const names = [element('bdi', '', start.title), ' and ', element('bdi', '', end.title)]
    const steps = this.path.map(({ node, type, direction }) => {
      const name = type?.replaceAll('_', ' ').toLowerCase()
      return element('li', '', ...(type ? [element('span', 'help', direction === 'to' ? `${name} → ` : `← ${name} `)] : []), this.button(node))
    })
    const count = this.path.length - 1
    const card = document.getElementById('graph-card')
    card.className = 'card'
    card.replaceChildren(
      element('h2', '', 'From ', element('bdi', '', start.title), ' to ', element('bdi', '', end.title)),
      this.path.length
        ? element('p', 'help', `The shortest path has ${count} ${count === 1 ? 'step' : 'steps'}. Arrows point in the direction of the relation.`)
        : element('p', '', 'There is no path between ', ...names, ' over the domains that are shown.'),
      element('ol', 'path', ...steps))
    if (tell) history.replaceState(null, '', `#path:${encodeURIComponent(start.id)}/${encodeURIComponent(end.id)}`)
    this.draw()
  }

  showUnknown (id) {
    this.choose(null)
    document.getElementById('graph-card').replaceChildren(element('p', '', 'No public node has the id ', element('bdi', '', id), '.'))
  }

  /** Returns a button that makes a node the start of a path, whose end is chosen next. */
  pathButton (node) {
    const made = element('button', 'button quiet', 'Show the path to another node')
    made.type = 'button'
    made.addEventListener('click', () => {
      this.start = node
      made.replaceWith(element('p', 'note', 'Now choose the other node, in the picture, with the search or below.'))
    })
    return made
  }

  card (node) {
    const when = (text) => {
      const made = element('time', '', `${text.slice(0, 16).replace('T', ' ')} UTC`)
      made.dateTime = text
      return made
    }
    const parts = [
      element('h2', '', element('bdi', '', node.title)),
      element('p', 'help', `${node.type} in ${node.domain.toLowerCase()}, ${node.near.length} ${node.near.length === 1 ? 'edge' : 'edges'}`),
    ]
    if (node.description) parts.push(element('p', '', element('bdi', '', node.description)))
    parts.push(element('p', 'help', 'Holds since ', when(node.validFrom), ', recorded ', when(node.recordedAt), node.source ? `, from ${node.source}.` : ', stated by others.'))
    if (node.url) {
      const link = element('a', '', node.url)
      link.href = node.url
      link.rel = 'nofollow noopener'
      parts.push(element('p', '', link))
    }
    parts.push(this.pathButton(node))
    const groups = Map.groupBy ? Map.groupBy(node.near, ({ type, direction }) => `${direction} ${type}`) : new Map([['to NEAR', node.near]])
    for (const [key, near] of groups) {
      const [direction, type] = key.split(' ')
      const name = type.replaceAll('_', ' ').toLowerCase()
      parts.push(element('h3', '', direction === 'to' ? `${name} →` : `← ${name}`))
      parts.push(element('ul', '', ...near.slice(0, RELATIONS_SHOWN).map(({ node: other }) => element('li', '', this.button(other))),
        ...(near.length > RELATIONS_SHOWN ? [element('li', '', `and ${near.length - RELATIONS_SHOWN} more`)] : [])))
    }
    return parts
  }

  button (node) {
    const made = element('button', node.domain, element('bdi', '', node.title))
    made.type = 'button'
    made.addEventListener('click', () => this.choose(node))
    return made
  }

  search (text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean)
    const fitting = words.length ? this.nodes.map((node) => [fit(node, words), node]).filter(([sum]) => sum) : []
    const found = fitting.filter(([, node]) => this.visible(node)).sort(([a], [b]) => b - a)
    const hidden = fitting.length > found.length ? ` ${fitting.length - found.length} in hidden domains.` : ''
    const said = found.length ? `${found.length} of ${this.nodes.length} nodes` : hidden ? 'None in the domains that are shown' : `No public node has “${text}”.`
    document.getElementById('graph-found').textContent = !words.length ? '' : hidden ? `${said}.${hidden}` : said
    document.getElementById('graph-results').replaceChildren(...found.slice(0, RESULTS_SHOWN).map(([, node]) => element('li', '', this.button(node))))
  }
}

/** Returns the ids in the page's address: of a node, of both ends of a path, or none. */
function named () {
  const [, ...ids] = /^#node:(.+)$/.exec(location.hash) ?? /^#path:([^/]+)\/([^/]+)$/.exec(location.hash) ?? []
  return ids.map(decoded)
}

async function begin () {
  const field = document.getElementById('graph-search')
  let all
  try {
    all = new Explorer(await fetched(explorer.dataset.graph))
  } catch (error) {
    document.getElementById('graph-found').textContent = `The search is not available now (${error.message}); the picture and the lists are complete.`
    return
  }
  const figure = explorer.querySelector('figure')
  all.show(figure)
  field.disabled = false
  field.addEventListener('input', () => all.search(field.value))
  for (const box of explorer.querySelectorAll('[data-domain]')) {
    box.disabled = false
    box.addEventListener('change', () => {
      all.off[box.checked ? 'delete' : 'add'](box.dataset.domain)
      all.search(field.value)
      all.draw()
    })
  }
  const follow = () => {
    const ids = named()
    const [node, end] = ids.map((id) => all.byId.get(id))
    const unknown = ids.find((id) => !all.byId.has(id))
    if (unknown !== undefined) all.showUnknown(unknown)
    else if (end) all.showPath(node, end, { tell: false })
    else if (node) all.choose(node, { tell: false })
  }
  addEventListener('hashchange', follow)
  follow()
}

/** Opens the list that contains the target of a link to a node. */
function openAround () {
  const target = document.getElementById(location.hash.slice(1))
  const around = target?.closest('details')
  if (!around) return
  around.open = true
  target.scrollIntoView()
}
addEventListener('hashchange', openAround)
openAround()
if (explorer) begin()
