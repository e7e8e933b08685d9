// What the shell adds to every page: copying, ages that go on, the drawer of a figure's source, and the service's state.
for (const button of document.querySelectorAll('[data-copy], [data-text]')) {
  button.hidden = !navigator.clipboard
  const label = button.firstChild
  button.addEventListener('click', async () => {
    const text = button.dataset.text ?? document.getElementById(button.dataset.copy).textContent
    try {
      await navigator.clipboard.writeText(text)
      label.textContent = 'Copied'
    } catch {
      label.textContent = 'Not copied'
    }
    setTimeout(() => { label.textContent = 'Copy' }, 2000)
  })
}

/** A link to the source of a figure opens it. */
function openSource () {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (target instanceof HTMLDetailsElement) target.open = true
}
addEventListener('hashchange', openSource)
openSource()

const UNITS = [['day', 86_400], ['hour', 3_600], ['minute', 60], ['second', 1]]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' })

/** Says how long ago a time was by the service's clock, which may differ from this machine's. */
function age (milliseconds) {
  const seconds = Math.round(milliseconds / 1000)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS.at(-1)
  return relative.format(Math.trunc(seconds / size), unit)
}

let ahead = 0
function tick () {
  for (const time of document.querySelectorAll('time')) time.title = age(Date.parse(time.dateTime) - (Date.now() + ahead))
}

async function look () {
  const line = document.querySelector('[data-now]')
  try {
    const answer = await fetch(document.body.dataset.health, { cache: 'no-store' })
    const date = Date.parse(answer.headers.get('date'))
    if (date) ahead = date - Date.now()
    const health = await answer.json()
    line.textContent = `Generation ${health.generation}, ${age(-1000 * health.ageS)}. Service: ${health.status}.`
  } catch {
    line.textContent = 'The service does not answer now. The numbers are those of the time given at each.'
  }
  line.hidden = false
  tick()
}
tick()
look()
setInterval(look, 60_000)
