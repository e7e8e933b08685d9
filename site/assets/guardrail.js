// The guardrail's playground: has a text judged and shows the verdict in the same way as the examples. The wording comes
// from the page's own list.
const words = Object.fromEntries([...document.querySelectorAll('[data-word]')].map((each) => [each.dataset.word, each.textContent]))
const RANKS = ['none', 'low', 'medium', 'high', 'critical']
const GRAVEST_FIRST = ['blocks', 'unread', 'noticed']

function element (name, className, ...content) {
  const made = document.createElement(name)
  if (className) made.className = className
  made.append(...content)
  return made
}

const code = (text) => element('code', '', text)
const level = (severity) => element('span', `level level-${severity}`, severity)
const unique = (values) => [...new Set(values)]

/** Inserts a separator between the parts of a list. */
function between (parts, separator) {
  return parts.flatMap((part, at) => at ? [separator, part] : [part])
}

/** Returns the action with its marked parts. Positions count characters, some of which are two units of JavaScript's strings. */
function marked (action, verdict, blocks) {
  const characters = [...action]
  const marks = [
    ...verdict.matches.flatMap((match) => match.evidence.map(({ start, end }) => ({ start, end, mark: blocks(match) ? 'blocks' : 'noticed' }))),
    ...verdict.uncovered.map(({ start, end }) => ({ start, end, mark: 'unread' })),
  ]
  const bounds = unique([0, characters.length, ...marks.flatMap(({ start, end }) => [start, end])])
    .filter((at) => at <= characters.length).sort((a, b) => a - b)
  const shown = element('code')
  bounds.slice(1).forEach((last, at) => {
    const first = bounds[at]
    const over = marks.filter(({ start, end }) => start <= first && last <= end).map(({ mark }) => mark)
    const gravest = GRAVEST_FIRST.find((mark) => over.includes(mark))
    const text = characters.slice(first, last).join('')
    shown.append(gravest ? element('mark', gravest, text) : text)
  })
  const box = element('pre', 'action', shown)
  box.tabIndex = 0
  box.setAttribute('role', 'group')
  box.setAttribute('aria-label', 'The action')
  return box
}

function effectInWords (effect) {
  const targets = unique(effect.targets.map(({ text }) => text).filter(Boolean)).map(code)
  const known = unique([
    words[`scope.${effect.scope}`],
    ...effect.targets.map(({ place }) => words[`place.${place}`]),
    ...effect.targets.filter(({ sensitivity }) => sensitivity !== 'none').map(({ sensitivity }) => words[`sensitivity.${sensitivity}`]),
    words[`reversible.${effect.reversible}`],
    ...(effect.sure ? [] : ['perhaps']),
    ...(effect.elevated ? ['with raised rights'] : []),
  ])
  const says = `${words[`kind.${effect.kind}`]} ${words[`object.${effect.object}`]}`
  return element('li', '', element('span', '', says, ...(targets.length ? [': ', ...between(targets, ', ')] : [])), ' ',
    element('span', 'known', known.join(' · ')))
}

function reading (verdict, blocks) {
  const list = (className, items) => element('ul', className, ...items)
  const group = (title, ...content) => element('div', '', element('h3', 'sub', title), ...content)
  const uncovered = verdict.uncovered.map(({ reason, executable }) => ` Not covered: ${reason}${executable ? ', and it would run' : ''}.`)
  const rules = verdict.matches.map((match) => {
    const link = element('a', '', code(match.id))
    link.href = `#rule-${match.id}`
    return element('li', '', link, ' ', level(match.severity), blocks(match) ? '' : ' does not block here')
  })
  const groups = [
    group('What it would do', verdict.effects.length ? list('effects', verdict.effects.map(effectInWords)) : element('p', 'help', 'No effect was found.')),
    group('Which rule', rules.length ? list('rules', rules) : element('p', 'help', `None of ${verdict.rules_checked} applies.`)),
    group('How it was read', element('p', '', words[`coverage.${verdict.coverage}`], ...uncovered)),
  ]
  if (!verdict.passed && verdict.remediation.length) {
    groups.push(group('What would help', list('help', verdict.remediation.map((cure) => element('li', '', cure)))))
  }
  const stages = group('The seven stages', element('ol', 'stages', ...verdict.stages.map(({ stage, result }) =>
    element('li', result, element('strong', '', words[`stage.${stage}`]), ' ', element('span', '', words[`result.${result}`])))))
  const whole = element('details', 'all', element('summary', '', 'The whole verdict as JSON'), element('pre', 'tree', code(JSON.stringify(verdict, null, 1))))
  stages.className = 'all'
  whole.lastChild.tabIndex = 0
  return element('div', 'reading', ...groups, stages, whole)
}

function shown (action, verdict, blocksFrom) {
  const blocks = (match) => RANKS.indexOf(match.severity) >= RANKS.indexOf(blocksFrom)
  const decision = element('p', `verdict ${verdict.decision}`, element('span', 'sign'), ' ', element('strong', '', words[`decision.${verdict.decision}`]))
  decision.firstChild.setAttribute('aria-hidden', 'true')
  if (verdict.severity !== 'none') decision.append(' ', level(verdict.severity))
  return [decision, element('p', 'because', verdict.reason), marked(action, verdict, blocks), reading(verdict, blocks)]
}

function failure (text) {
  return [element('p', 'verdict ask', element('strong', '', 'Not judged')), element('p', 'because', text), element('p', 'help', 'No answer is not a pass.')]
}

function begin (form) {
  const outcome = document.getElementById('outcome')
  const left = document.getElementById('left')
  const button = form.querySelector('button[type=submit]')
  let timer

  /** Shows how many tries are left; without any, counts down the seconds until the next one. */
  function count (answer) {
    const [, remaining, reset] = /;r=(\d+);t=(\d+)/.exec(answer.headers.get('RateLimit') ?? '') ?? []
    const [, all] = /;q=(\d+)/.exec(answer.headers.get('RateLimit-Policy') ?? '') ?? []
    clearInterval(timer)
    if (remaining === undefined) return
    let seconds = Number(answer.headers.get('Retry-After') ?? reset)
    const say = () => {
      left.textContent = remaining > 0 ? `${remaining} of ${all} tries left this minute` : `The next try is in ${seconds} s`
      button.disabled = !(remaining > 0) && seconds > 0
      if (seconds-- <= 0) { clearInterval(timer); left.textContent = '' }
    }
    say()
    timer = setInterval(say, 1000)
  }

  async function judge () {
    const action = form.action.value.trim()
    if (!action) return failure('There is nothing to judge: type an action.')
    const data = { action, severity: form.severity.value }
    const answer = await fetch(form.dataset.judge, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ account: '-', data }) })
    const said = await answer.json()
    count(answer)
    if (!said.verdict) return failure(said.detail ?? said.message ?? `The service answered ${answer.status}.`)
    return shown(action, said.verdict, form.severity.selectedOptions[0].dataset.blocksFrom)
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    outcome.setAttribute('aria-busy', 'true')
    let parts
    try {
      parts = await judge()
      if (!left.textContent.startsWith('The next')) button.disabled = false
    } catch (error) {
      parts = failure(`The service does not answer (${error instanceof SyntaxError ? 'unreadable reply' : error.message}).`)
      button.disabled = false
    }
    outcome.replaceChildren(...parts)
    outcome.removeAttribute('aria-busy')
  })
  for (const again of document.querySelectorAll('.try')) {
    again.hidden = false
    again.addEventListener('click', () => {
      form.action.value = again.dataset.action
      form.action.focus()
      form.requestSubmit()
    })
  }
  button.disabled = false
}

const form = document.getElementById('judge')
if (form) begin(form)
