// A search field over rows of this page: hides what lacks a word, opens what has one, and says how many are left. A field
// with a pattern asks for one row as a whole: what the row says of itself is told, or `none`, and `half` before that.
const { decoded } = await import(document.querySelector('script[src*="/site."]').src)

for (const field of document.querySelectorAll('[data-filter]')) {
  const rows = [...document.querySelectorAll(field.dataset.filter)]
  const texts = rows.map((row) => `${row.textContent} ${row.id}`.toLowerCase())
  const leaves = rows.filter((row) => !rows.some((other) => other !== row && row.contains(other)))
  const tables = new Set(rows.map((row) => row.closest('table')).filter(Boolean))
  const found = field.parentElement.querySelector('[data-found]')
  field.disabled = false
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    rows.forEach((row, at) => {
      row.hidden = !words.every((word) => texts[at].includes(word))
      if (row instanceof HTMLDetailsElement) row.open = words.length > 0 && !row.hidden
    })
    for (const table of tables) table.hidden = rows.every((row) => row.hidden || !table.contains(row))
    const left = leaves.filter((row) => !row.hidden && !row.parentElement.closest('[hidden]'))
    found.textContent = words.length ? said(field, left, leaves.length) : ''
  })
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
