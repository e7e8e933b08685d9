// Parses CSV, for pages that show rows of a published file. Their scripts import it by the address from which it was
// loaded.

/** Returns the rows of a text as arrays of texts. A quoted field may contain commas, line breaks and doubled quotes. */
export function parsed (text) {
  const rows = []
  let row = []
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    if (row.length > 1 || row[0]) rows.push(row)
    row = []
  }
  return rows
}

/** Returns the rows of a text with a header line, as objects. */
export function records (text) {
  const [names, ...rows] = parsed(text)
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])))
}
