// A drawing on a canvas that can be moved and zoomed by pointer, fingers, wheel, keys and buttons. A page that has one
// loads this script, and the page's own script imports it by the address from which it was loaded.

/**
 * A subclass defines what is drawn: `paint`, `fitAll`, `readColours`, `under` (what is at a place), `choose`, `title`, and,
 * if things can be dragged, `move`.
 */
export class Plane {
  constructor (label) {
    this.canvas = document.createElement('canvas')
    this.canvas.tabIndex = 0
    this.canvas.setAttribute('role', 'img')
    this.canvas.setAttribute('aria-label', label)
    this.pen = this.canvas.getContext('2d')
    this.view = { x: 0, y: 0, zoom: 1 }
  }

  /** Starts drawing, where the style places the canvas; `buttons` zoom. */
  begin (buttons) {
    new ResizeObserver(() => this.resize()).observe(this.canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.readColours(); this.draw() })
    for (const button of buttons.querySelectorAll('[data-zoom]')) {
      button.addEventListener('click', () => Number(button.dataset.zoom) ? this.zoomBy(Number(button.dataset.zoom)) : this.fitAll())
    }
    buttons.hidden = false
    this.listen()
    this.resize()
  }

  resize () {
    const { width, height } = this.canvas.getBoundingClientRect()
    const ratio = Math.min(devicePixelRatio, 2)
    if (this.canvas.width === Math.round(width * ratio) && this.canvas.height === Math.round(height * ratio)) return
    this.canvas.width = Math.round(width * ratio)
    this.canvas.height = Math.round(height * ratio)
    this.ratio = ratio
    this.size = { width, height }
    this.fitAll()
  }

  draw () {
    if (this.waiting) return
    this.waiting = true
    requestAnimationFrame(() => { this.waiting = false; this.paint() })
  }

  zoomBy (factor, x = this.size.width / 2, y = this.size.height / 2) {
    const zoom = Math.min(Math.max(this.view.zoom * factor, 0.05), 40)
    const real = zoom / this.view.zoom
    this.view = { zoom, x: x - (x - this.view.x) * real, y: y - (y - this.view.y) * real }
    this.draw()
  }

  listen () {
    const { canvas } = this
    const pointers = new Map()
    let held = null
    let moved = 0
    const at = (event) => {
      const { left, top } = canvas.getBoundingClientRect()
      return [event.clientX - left, event.clientY - top]
    }
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId)
      pointers.set(event.pointerId, at(event))
      held = pointers.size === 1 && this.move ? this.under(...at(event)) : null
      moved = 0
      canvas.classList.add('held')
    })
    canvas.addEventListener('pointermove', (event) => {
      const before = pointers.get(event.pointerId)
      const [x, y] = at(event)
      if (!before) {
        canvas.title = this.title(this.under(x, y))
        return
      }
      const [dx, dy] = [x - before[0], y - before[1]]
      moved += Math.abs(dx) + Math.abs(dy)
      if (pointers.size === 2) {
        const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place)
        const apart = Math.hypot(before[0] - other[0], before[1] - other[1]) || 1
        this.zoomBy(Math.hypot(x - other[0], y - other[1]) / apart, (x + other[0]) / 2, (y + other[1]) / 2)
      } else if (held) {
        this.move(held, dx, dy)
      } else {
        this.view.x += dx
        this.view.y += dy
      }
      pointers.set(event.pointerId, [x, y])
      this.draw()
    })
    const released = (event) => {
      if (!pointers.delete(event.pointerId) || pointers.size) return
      canvas.classList.remove('held')
      if (moved < 6) this.choose(this.under(...at(event)))
    }
    canvas.addEventListener('pointerup', released)
    canvas.addEventListener('pointercancel', (event) => { pointers.delete(event.pointerId); canvas.classList.remove('held') })
    canvas.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return
      event.preventDefault()
      this.zoomBy(Math.exp(-event.deltaY / 400), ...at(event))
    }, { passive: false })
    const STEPS = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }
    canvas.addEventListener('keydown', (event) => {
      if (event.key in STEPS) {
        this.view.x += STEPS[event.key][0]
        this.view.y += STEPS[event.key][1]
        this.draw()
      } else if (event.key === '+' || event.key === '=') this.zoomBy(1.25)
      else if (event.key === '-') this.zoomBy(0.8)
      else if (event.key === '0') this.fitAll()
      else return
      event.preventDefault()
    })
  }
}
