// Fields over rows of this page: they hide what one of them does not fit, open what has all words, and say how many are
// left. A field to type in looks for words; one to choose from compares what the row has under the field's name. A field
// with a pattern asks for one row as a whole: what the row says of itself is told, or `none`, and `half` before that.
// What is chosen in fields with a name stays in the address, so that it survives a reload and can be sent on.
const { decoded } = await import(document.querySelector('script[src*="/site."]').src)

const fields = [...document.querySelectorAll('[data-filter]')]
for (const chosen of new Set(fields.map((field) => field.dataset.filter))) filterBy(chosen, fields.filter((field) => field.dataset.filter === chosen))

function filterBy (chosen, fields) {
  const rows = [...document.querySelectorAll(chosen)]
  const texts = rows.map((row) => `${row.textContent} ${row.id}`.toLowerCase())
  const leaves = rows.filter((row) => !rows.some((other) => other !== row && row.contains(other)))
  const tables = new Set(rows.map((row) => row.closest('table')).filter(Boolean))
  const found = fields[0].parentElement.querySelector('[data-found]')
  const fits = (field, row, at) => field instanceof HTMLSelectElement
    ? row.dataset[field.name] === field.value
    : has(texts[at], field)

  function filter () {
    const asked = fields.filter((field) => field.value.trim())
    rows.forEach((row, at) => {
      row.hidden = !asked.every((field) => fits(field, row, at))
      if (row instanceof HTMLDetailsElement) row.open = asked.length > 0 && !row.hidden
      for (const inner of row.querySelectorAll('details')) inner.open = asked.length > 0 && asked.every((field) => has(inner.textContent.toLowerCase(), field))
    })
    for (const table of tables) table.hidden = rows.every((row) => row.hidden || !table.contains(row))
    const left = leaves.filter((row) => !row.hidden && !row.parentElement.closest('[hidden]'))
    found.textContent = asked.length ? said(fields[0], left, leaves.length) : ''
  }

  for (const field of fields) {
    field.disabled = false
    recall(field)
    field.addEventListener('input', () => {
      filter()
      remember(field)
    })
  }
  if (fields.some((field) => field.value.trim())) filter()
}

function recall (field) {
  if (!field.name) return
  field.value = new URLSearchParams(location.search).get(field.name) ?? ''
  if (field.selectedIndex < 0) field.value = ''
}

function remember (field) {
  if (!field.name) return
  const address = new URL(location.href)
  if (field.value) address.searchParams.set(field.name, field.value)
  else address.searchParams.delete(field.name)
  history.replaceState(null, '', address)
}

function has (text, field) {
  return field.value.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

function said (field, left, all) {
  const { half, none = `None of ${all}` } = field.dataset
  if (half && field.validity.patternMismatch) return left.length ? `${left.length} of ${all}. ${half}` : half
  if (!left.length) return none
  return (half && left[0].dataset.said) || `${left.length} of ${all}`
}

/** A link to something within closed details opens them. */
function openAround () {
  const target = document.getElementById(decoded(location.hash.slice(1)))
  for (let around = target?.closest('details'); around; around = around.parentElement.closest('details')) around.open = true
  target?.scrollIntoView()
}
addEventListener('hashchange', openAround)
if (location.hash) openAround()
