// Hover and keys for charts: shows a cursor, and the numbers at its point above the drawing. The data come from the table.
function follow (chart) {
  const drawing = chart.querySelector('svg:has(.cursor)')
  const cursor = drawing.querySelector('.cursor')
  const readout = chart.querySelector('.readout')
  const names = [...chart.querySelectorAll('thead th')].slice(1).map((name) => name.textContent)
  const rows = [...chart.querySelectorAll('tr[data-x]')].reverse()
  let at = rows.length - 1

  function show (next) {
    at = Math.min(Math.max(next, 0), rows.length - 1)
    cursor.setAttribute('transform', `translate(${rows[at].dataset.x} 0)`)
    cursor.setAttribute('visibility', 'visible')
    const [time, ...values] = [...rows[at].children].map((cell) => cell.textContent)
    const first = document.createElement('span')
    first.textContent = time
    const parts = values.map((value, place) => {
      const part = document.createElement('span')
      const number = document.createElement('strong')
      number.textContent = value
      part.append(`${names[place]} `, number)
      return part
    })
    readout.replaceChildren(...[first, ...parts].flatMap((part) => [part, ' ']))
  }

  function leave () {
    show(rows.length - 1)
    cursor.setAttribute('visibility', 'hidden')
  }

  drawing.addEventListener('pointermove', (event) => {
    const box = drawing.getBoundingClientRect()
    const x = (event.clientX - box.left) / box.width * drawing.viewBox.baseVal.width
    const far = rows.map((row) => Math.abs(row.dataset.x - x))
    show(far.indexOf(Math.min(...far)))
  })
  drawing.addEventListener('pointerleave', leave)
  drawing.setAttribute('tabindex', '0')
  drawing.addEventListener('blur', leave)
  drawing.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -rows.length, End: rows.length }[event.key]
    if (!step) return
    event.preventDefault()
    show(at + step)
  })
  leave()
}

function followAll (root) {
  for (const chart of root.querySelectorAll('.chart:has(.cursor)')) follow(chart)
}

// Scripts dispatch `content` after they have filled a part of the page.
document.addEventListener('content', (event) => followAll(event.detail))
followAll(document)
