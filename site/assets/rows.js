// The rows of public tables: sorts, filters and pages through the newest rows of a file, which is fetched at the first
// use. Until then, and if it can't be fetched, the page shows the rows with which it was published.
const { records } = await import(document.querySelector('script[src*="/csv."]').src)
const LONGEST = 24

/** Shortens a long text to its beginning, an address or a hash to its beginning and end. */
function shortened (text) {
  if (text.length <= LONGEST) return text
  return text.startsWith('0x') ? `${text.slice(0, 8)}…${text.slice(-4)}` : `${text.slice(0, LONGEST - 1)}…`
}

/** Formats a time as on the page: without the letters of ISO 8601 and the zeros at the end of a second's fraction. */
const readable = (text) => text.replace(/^(\d{4}-\d\d-\d\d)T([\d:]+)(?:(\.\d*[1-9])|\.)?0*Z$/, '$1 $2$3')

class Rows {
  constructor (room) {
    this.room = room
    this.heads = [...room.querySelectorAll('th')]
    this.body = room.querySelector('tbody')
    this.field = room.querySelector('input')
    this.said = room.querySelector('[data-at]')
    this.buttons = [...room.querySelectorAll('[data-step]')]
    this.size = Number(room.dataset.pageOf)
    this.from = 0
    this.by = null
    this.field.disabled = false
    this.field.addEventListener('input', () => { this.from = 0; this.show() })
    for (const button of this.buttons) {
      button.disabled = false
      button.addEventListener('click', () => { this.from += this.size * Number(button.dataset.step); this.show() })
    }
    for (const head of this.heads) {
      const button = document.createElement('button')
      button.type = 'button'
      button.textContent = head.textContent
      button.addEventListener('click', () => this.sort(head))
      head.replaceChildren(button)
    }
  }

  async rows () {
    this.all ??= fetch(this.room.dataset.file, { cache: 'no-cache' }).then(async (answer) => {
      if (!answer.ok) throw new Error(`answered ${answer.status}`)
      return records(await answer.text())
    })
    return this.all
  }

  sort (head) {
    const falls = head.ariaSort === 'ascending'
    for (const other of this.heads) other.ariaSort = null
    head.ariaSort = falls ? 'descending' : 'ascending'
    this.by = { name: head.dataset.column, sign: falls ? -1 : 1, isNumber: head.classList.contains('number') }
    this.from = 0
    this.show()
  }

  /** Returns the rows that contain every word of the filter, in the chosen order. Exact amounts exceed JavaScript's numbers. */
  chosen (all) {
    const words = this.field.value.toLowerCase().split(/\s+/).filter(Boolean)
    const found = all.filter((row) => {
      const text = Object.values(row).join(' ').toLowerCase()
      return words.every((word) => text.includes(word))
    })
    if (!this.by) return found
    const { name, sign, isNumber } = this.by
    const value = all.every((row) => /^(-?\d+)?$/.test(row[name])) ? BigInt : isNumber ? Number : String
    return found.map((row) => [value(row[name]), row]).sort(([a], [b]) => sign * (a < b ? -1 : a > b ? 1 : 0)).map(([, row]) => row)
  }

  async show () {
    try {
      const all = await this.rows()
      const found = this.chosen(all)
      this.from = Math.max(0, Math.min(this.from, this.size * (Math.ceil(found.length / this.size) - 1)))
      const shown = found.slice(this.from, this.from + this.size)
      this.body.replaceChildren(...shown.map((row) => this.row(row)))
      const words = found.length === all.length ? `${all.length} newest` : `${found.length} found in the ${all.length} newest`
      this.said.textContent = found.length ? `Rows ${this.from + 1} to ${this.from + shown.length} of the ${words}` : `None of the ${all.length} newest`
    } catch (error) {
      this.all = undefined
      this.said.textContent = `The file can’t be read (${error.message}). These are the first rows.`
    }
  }

  row (values) {
    const made = document.createElement('tr')
    for (const head of this.heads) {
      const text = readable(values[head.dataset.column])
      const cell = document.createElement('td')
      cell.className = head.className
      cell.textContent = text ? shortened(text) : '–'
      if (cell.textContent !== text) cell.title = text
      made.append(cell)
    }
    return made
  }
}

for (const room of document.querySelectorAll('.rows-of:has(table)')) new Rows(room)
