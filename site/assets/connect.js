// The connect page: a quote whose hashes this browser recomputes. Without it the page says the same.

const { canonical, hex, sha256 } = await import(document.querySelector('script[src*="/canonical."]').src);

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

async function compared(what, said, value) {
  const ours = await sha256(canonical(value));
  const equal = ours === said;
  return { equal, rows: [[`${what}, as the service says`, said], [`${what}, as this browser computes`, `${ours} ${equal ? "(equal)" : "(NOT equal)"}`]] };
}

async function check(form, outcome) {
  const body = JSON.stringify({ planId: form.plan.value, payerAddress: form.payer.value });
  const answer = await fetch(form.dataset.quote, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const said = await answer.json();
  if (answer.status !== 201) {
    const wait = answer.headers.get("Retry-After");
    const detail = `${answer.status} ${said.code}: ${said.detail}${wait ? ` Try again in ${wait} s.` : ""}`;
    outcome.replaceChildren(element("p", detail, "verdict wrong"));
    return;
  }
  const quote = await compared("quoteHash", said.quoteHash, said.data.quote);
  const requirement = await compared("paymentRequirementHash", said.paymentRequirementHash, said.data.paymentRequirement);
  const equal = quote.equal && requirement.equal;
  const rows = [["Quote", said.quoteId], ["Amount", `${said.price.exactAmount} ${said.data.next.pay.assetSymbol}`], ["Pay to", said.data.paymentRequirement.payTo], ["Expires", said.expiresAt], ...quote.rows, ...requirement.rows];
  const list = document.createElement("dl");
  for (const [name, text] of rows) list.append(element("dt", name), element("dd", text));
  const verdict = equal ? "Both hashes are equal: a claim will be held to exactly these terms." : "The hashes differ: don’t pay this quote.";
  outcome.replaceChildren(element("p", verdict, equal ? "verdict" : "verdict wrong"), list);
}

/** An address that nobody has the key of: open quotes are counted by payer, and a shared one would run out. */
function anyAddress() {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return `0x${hex(bytes)}`;
}

function begin() {
  const form = document.getElementById("check");
  if (!form || !globalThis.crypto?.subtle) return;
  form.hidden = false;
  form.payer.value ||= anyAddress();
  const outcome = document.getElementById("outcome");
  const button = form.querySelector("button");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    outcome.replaceChildren(element("p", "Asking…"));
    try {
      await check(form, outcome);
    } catch (error) {
      outcome.replaceChildren(element("p", `No answer that can be read: ${error.message}`, "verdict wrong"));
    } finally {
      button.disabled = false;
    }
  });
}

begin();
