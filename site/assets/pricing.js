// Computes, from the plans and prices of this page, which plan covers a number of calls per day and what a call then costs.
const form = document.getElementById('calculator')
const said = document.getElementById('calculated')
const plans = [...document.querySelectorAll('[data-plan]')].map(({ dataset: { plan, usd, days, most } }) => ({ name: plan, usd: Number(usd), days: Number(days), most: Number(most || Infinity) }))
const singles = [...document.querySelectorAll('[data-single]')].map(({ dataset }) => Number(dataset.single))
const MONTH_DAYS = 30

const whole = (number) => number.toLocaleString('en')
const unitPrice = (usd) => usd.toLocaleString('en', { maximumSignificantDigits: 3 })
const total = (usd) => usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Describes in a sentence the cheapest plan that allows a number of calls per day. */
function byPlan (calls) {
  const enough = plans.filter(({ most }) => most >= calls).sort((a, b) => a.usd - b.usd)[0]
  if (!enough) return `No plan allows ${whole(calls)} calls a day.`
  const { name, usd, days } = enough
  if (!days) return `${name} is enough: ${total(usd)} USD once, and then a call costs nothing.`
  return `${name} is enough: ${total(usd)} USD for ${days} days, which is ${unitPrice(usd / calls / days)} USD a call.`
}

function singly (calls) {
  const [least, most] = [Math.min(...singles), Math.max(...singles)]
  const month = MONTH_DAYS * calls
  return `Paid one by one, without a key, calls cost ${unitPrice(least)} to ${unitPrice(most)} USD each: ${total(least * month)} to ${total(most * month)} USD in ${MONTH_DAYS} days.`
}

function calculate () {
  const { calls } = form.elements
  if (!calls.validity.valid) said.textContent = 'Type a whole number of calls, at least 1.'
  else said.textContent = [byPlan(calls.valueAsNumber), ...(singles.length ? [singly(calls.valueAsNumber)] : [])].join(' ')
}

form.hidden = false
form.addEventListener('submit', (event) => event.preventDefault())
form.addEventListener('input', calculate)
calculate()
