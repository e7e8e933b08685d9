// Filter fields for rows of this page: they hide rows that don't match all fields, open rows that contain all words, and
// show how many are left. A text field searches for words; a select field compares the row's data under the field's name.
// A field with a pattern looks for exactly one row: it shows the text of that row, or `none`, and `half` until the input
// fits the pattern. Choices in named fields are kept in the address, so that they survive a reload and can be shared.
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

/** Opens the closed details that contain the target of a link. */
function openAround () {
  const target = document.getElementById(decoded(location.hash.slice(1)))
  for (let around = target?.closest('details'); around; around = around.parentElement.closest('details')) around.open = true
  target?.scrollIntoView()
}
addEventListener('hashchange', openAround)
if (location.hash) openAround()
