// One holder: requests the holder named in the page's URL and fills the page's template with the answer.
const { addressLink, capitalized, decimal, element, fill, minutes, percent, read, row, short, time, unanswered } = await import(document.querySelector('script[src*="/filling."]').src)
const room = document.getElementById('holder')

/** Formats an amount in whole tokens, with the exact number as its title; in smallest units if the decimals are not known. */
function amount (whole, raw) {
  return element('data', short(whole ?? raw), { value: raw, title: whole ?? raw })
}

/** Returns the position of a time in a drawing that spans two times. */
function across (time, from, to) {
  const first = Date.parse(from)
  return Math.round(10 * (62 + (Date.parse(time) - first) / (Date.parse(to) - first || 1) * 578)) / 10
}

/** Returns the points of a step line, which keeps its value until the next change, in drawing units, oldest first. */
function steps (points, from, to) {
  const greatest = Math.max(...points.map(({ balanceRaw }) => Number(balanceRaw)), 1)
  return points.map(({ time, balanceRaw }) => [
    across(time, from, to),
    Math.round(10 * (190 - Number(balanceRaw) / greatest * 170)) / 10
  ])
}

/** Draws the balance, and lists its changes in a table. */
function drawBalance (found, answer) {
  const chart = found.querySelector('[data-chart="balance"]')
  if (!answer.history.length) return chart.remove()
  const points = [...answer.history].reverse()
  const [from, to] = [points[0].time, answer.basis?.time ?? points.at(-1).time]
  const places = steps(points, from, to)
  const line = places.map(([x, y], at) => at ? `H${x}V${y}` : `M${x} ${y}`).join('') + 'H640'
  chart.querySelector('.line').setAttribute('d', line)
  chart.querySelector('.area').setAttribute('d', `${line}V190H${places[0][0]}Z`)
  const greatest = points.reduce((most, point) => Number(point.balanceRaw) > Number(most.balanceRaw) ? point : most)
  fill(chart, {
    greatest: short(greatest.balance ?? greatest.balanceRaw),
    from: from.slice(0, 10),
    to: to.slice(0, 10),
    summary: answer.nextCursor ? `The newest ${points.length} changes` : `${points.length} changes since the first`
  })
  const table = chart.querySelector('#changes')
  points.forEach((point, at) => {
    const change = (point.changeRaw.startsWith('-') ? '' : '+') + short(decimal(point.changeRaw, answer.token?.decimals))
    table.prepend(told(point.time, places[at][0], [amount(point.balance, point.balanceRaw), 'number'], [change, 'number'], [String(point.block), 'number']))
  })
}

/** Draws the ranks, the first on top; the line is interrupted where the address held nothing. Explains a missing line. */
function drawRanks (found, { ranks }) {
  const chart = found.querySelector('[data-chart="rank"]')
  const points = [...ranks].reverse()
  const known = points.map(({ rank }) => rank).filter(Boolean)
  if (points.length < 2 || !known.length) return chart.replaceWith(element('p', `No ranks over time. ${withoutRanks(points.length)}`, { class: 'empty' }))
  const [from, to, lowest] = [points[0].time, points.at(-1).time, Math.max(...known, 2)]
  const places = points.map(({ time, rank }) => [across(time, from, to), Math.round(10 * (20 + (rank - 1) / (lowest - 1) * 170)) / 10])
  const line = chart.querySelector('.line')
  line.setAttribute('d', places.map(([x, y], at) => points[at].rank && `${points[at - 1]?.rank ? 'L' : 'M'}${x} ${y}`).filter(Boolean).join(''))
  line.after(...places.filter((_, at) => points[at].rank).map(([x, y]) => {
    const dot = document.createElementNS(line.namespaceURI, 'circle')
    for (const [name, value] of Object.entries({ class: 'dot', cx: x, cy: y, r: 3.5 })) dot.setAttribute(name, value)
    return dot
  }))
  const whole = (rank) => rank?.toLocaleString('en') ?? 'none'
  fill(chart, {
    lowestRank: whole(lowest),
    rankFrom: from.slice(0, 10),
    rankTo: to.slice(0, 10),
    rankSummary: `From ${whole(points[0].rank)} to ${whole(points.at(-1).rank)} over the newest ${points.length} snapshots; the best was ${whole(Math.min(...known))}`
  })
  const table = chart.querySelector('#ranks')
  points.forEach(({ time, rank, block }, at) => table.prepend(told(time, places[at][0], [whole(rank), 'number'], [String(block), 'number'])))
}

/** Explains why ranks are not drawn, from the number of snapshots for which they were requested. */
function withoutRanks (snapshots) {
  return snapshots < 2
    ? `They are drawn from the second snapshot on; there is ${snapshots ? 'one so far' : 'none yet'}.`
    : `It held nothing at any of the newest ${snapshots} snapshots.`
}

/** Returns a row of a chart's table: its time, its position, and its cells. */
function told (time, x, ...cells) {
  const made = row(...cells)
  made.prepend(element('th', minutes(time), { scope: 'row' }))
  made.dataset.x = x
  return made
}

const NOTES = {
  unknown_address: 'No transfer up to this block involves the address, so it holds nothing.',
  no_balance: 'The address holds nothing at this block.'
}

const NO_SCORE = {
  not_configured: 'This installation has no trust registry.',
  unanswered: 'The score could not be read now. Try again in a minute.'
}

/** Shows whether an address is trusted. `score` is null if the service did not answer. */
function showTrust (found, address, score) {
  const level = score?.registered ? score.level : null
  for (const word of found.querySelectorAll('[data-level]')) if (word.dataset.level !== level) word.remove()
  const verdict = document.createElement('span')
  if (level) {
    const count = `${score.attestationCount.toLocaleString('en')} attestation${score.attestationCount === 1 ? '' : 's'}`
    verdict.append(`Weighted score ${score.weightedScore} of 100 from ${count}, the newest of `, time(score.lastAttestedAt), '.')
    if (score.stale) verdict.append(` Stale since ${minutes(score.staleAfter)} UTC.`)
  } else if (score?.registered === false) {
    verdict.append('It has no attestation and therefore no score. That is evidence neither for it nor against it.')
  } else {
    verdict.append(NO_SCORE[score ? score.reason : 'unanswered'] ?? 'Scores are not computed yet.')
  }
  fill(found, {
    verdict,
    trustQuality: score ? capitalized(score.stale ? 'stale' : score.quality) : '–',
    trustSource: score?.source ?? '–',
    trustBlock: String(score?.consistency?.block ?? '–'),
    trustStaleAfter: time(score?.staleAfter),
    trustCommand: `curl ${room.dataset.site}api/v2/trust/score/${address}`
  })
  if (level) found.querySelector('[data-trust-link]').hash = address
}

function show (address, answer, moves, score) {
  const found = document.getElementById('holder-found').content.cloneNode(true)
  showTrust(found, address, score)
  for (const line of found.querySelectorAll('[data-attester]')) if (line.dataset.attester !== address) line.remove()
  const raw = answer.balanceRaw ?? '0'
  const quality = answer.stale ? 'stale' : answer.quality
  fill(found, {
    address,
    kind: answer.cohort ?? '',
    quality: capitalized(quality),
    source: answer.source ?? '–',
    block: String(answer.block ?? '–'),
    command: `curl ${room.dataset.url}/${address}`,
    proof: answer.basis
      ? `The balance follows from the transfers up to block ${answer.basis.block}; the list of block ${answer.basis.provenBlock}, which is ${answer.basis.verdict}, covers them all.`
      : 'There is no list yet.'
  })
  for (const name of ['firstSeenAt', 'firstHeldAt', 'lastActiveAt', 'observedAt', 'staleAfter']) fill(found, { [name]: time(answer[name]) })
  const figures = {
    balance: [short(answer.balance ?? raw), raw],
    share: [answer.share === null ? '–' : percent(answer.share), answer.share ?? ''],
    rank: [answer.rank?.toLocaleString('en') ?? '–', answer.rank ?? '']
  }
  for (const [name, [text, exact]] of Object.entries(figures)) {
    const data = found.querySelector(`data[data-slot="${name}"]`)
    data.textContent = text
    data.value = exact
    if (text === '–') data.closest('.figure').querySelector('.mark').remove()
  }
  for (const mark of found.querySelectorAll('.mark')) {
    mark.classList.add(quality)
    mark.title = mark.textContent
  }
  const note = answer.stale ? `Stale since ${minutes(answer.staleAfter)} UTC. The last values are shown.` : NOTES[answer.reason]
  if (note) {
    const line = found.querySelector('[data-slot="note"]')
    line.textContent = note
    line.hidden = false
  }
  if (!answer.stale && answer.staleAfter) found.querySelector('#from-holder').dataset.staleAfter = answer.staleAfter
  found.querySelector('[data-slot-text]').dataset.text = address
  if (answer.token && answer.block !== null) {
    found.querySelector('#balance-command').textContent = `cast call ${answer.token.address} "balanceOf(address)(uint256)" ${address} --block ${answer.block} --rpc-url $RPC_URL  # ${raw}`
  }
  drawBalance(found, answer)
  drawRanks(found, answer)
  const history = found.querySelector('[aria-labelledby="history"]')
  if (!history.querySelector('.chart')) history.remove()
  const table = found.querySelector('#moves')
  for (const move of moves.transfers) {
    const out = move.from === answer.address
    table.append(row([time(move.time)], [out ? 'out' : 'in'], [addressLink(out ? move.to : move.from)], [amount(move.value, move.valueRaw), 'number'], [String(move.block), 'number'], [element('code', `${move.transactionHash.slice(0, 10)}…`, { title: move.transactionHash })]))
  }
  if (!moves.transfers.length) found.querySelector('[aria-labelledby="transfers"]').remove()
  room.replaceChildren(found)
  document.title = `${address.slice(0, 6)}…${address.slice(-4)} · ${document.title}`
  document.dispatchEvent(new CustomEvent('content', { detail: room }))
}

function tell (words) {
  room.replaceChildren(element('p', words, { class: 'note', role: 'alert' }))
}

async function begin () {
  const address = new URLSearchParams(location.search).get('address')?.trim()
  if (!address) return
  const field = document.getElementById('address')
  field.value = address
  if (field.validity.patternMismatch) return tell(`“${address}” is no address. ${field.title}.`)
  room.replaceChildren(element('p', 'Asking…'))
  try {
    const path = encodeURIComponent(address)
    const holder = `${room.dataset.api}/${path}`
    const [answer, moves] = await Promise.all([read(`${holder}?limit=500&ranks=60`), read(`${holder}/transfers?limit=25`)])
    // The holdings are shown even if the score can't be read.
    const score = await read(`${room.dataset.trustApi}/${answer.address}`).catch(() => null)
    show(answer.address, answer, moves, score)
  } catch (error) {
    tell(unanswered(error))
  }
}

begin()
