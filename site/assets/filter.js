// A search field over rows of this page: hides what lacks a word, opens what has one, and says how many are left.
for (const field of document.querySelectorAll('[data-filter]')) {
  const rows = [...document.querySelectorAll(field.dataset.filter)]
  const texts = rows.map((row) => `${row.textContent} ${row.id}`.toLowerCase())
  const leaves = rows.filter((row) => !rows.some((other) => other !== row && row.contains(other)))
  const found = field.parentElement.querySelector('[data-found]')
  field.disabled = false
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    rows.forEach((row, at) => {
      row.hidden = !words.every((word) => texts[at].includes(word))
      if (row instanceof HTMLDetailsElement) row.open = words.length > 0 && !row.hidden
    })
    const left = leaves.filter((row) => !row.hidden && !row.parentElement.closest('[hidden]')).length
    found.textContent = !words.length ? '' : left ? `${left} of ${leaves.length}` : field.dataset.none ?? `None of ${leaves.length}`
  })
}

/** A link to something within closed details opens them. */
function openAround () {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  for (let around = target?.closest('details'); around; around = around.parentElement.closest('details')) around.open = true
  target?.scrollIntoView()
}
addEventListener('hashchange', openAround)
if (location.hash) openAround()
