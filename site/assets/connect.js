// Recomputes the hashes of a quote in the browser, and buys a key with a wallet. Without this script pages have the same content.

const page = globalThis.document; // tests import this script without a page
const { canonical, hex, sha256 } = page ? await import(page.querySelector('script[src*="/canonical."]').src) : {};

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
  const verdict = equal ? "Both hashes are equal: a claim is bound to exactly these terms." : "The hashes differ: don’t pay this quote.";
  outcome.replaceChildren(element("p", verdict, equal ? "verdict" : "verdict wrong"), list);
}

/** Returns an address whose key nobody has: open quotes are counted per payer, and a shared address would run out of them. */
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
      outcome.replaceChildren(element("p", `The answer can’t be read (${error.message}). Try again in a minute.`, "verdict wrong"));
    } finally {
      button.disabled = false;
    }
  });
}

// Buying with a wallet (EIP-1193)

/** The state of a payment, stored until its key is shown, so that a reload loses nothing. */
const payment = {
  read: () => JSON.parse(sessionStorage.getItem("svc.payment") ?? "null"),
  keep: (value) => sessionStorage.setItem("svc.payment", JSON.stringify(value)),
  forget: () => sessionStorage.removeItem("svc.payment"),
};

/** An error whose message is shown to the reader. */
class Stopped extends Error {}

const REJECTED = 4001;
const UNKNOWN_CHAIN = 4902;
const SENT_BEFORE_MS = 60_000;
const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));
const word = (digits) => digits.replace(/^0x/, "").toLowerCase().padStart(64, "0");

/** Returns the call data of an ERC-20 transfer. */
export function transferCall(to, units) {
  return `0xa9059cbb${word(to)}${word(BigInt(units).toString(16))}`;
}

/** Returns the wallets that announce themselves (EIP-6963), or else the one that older wallets inject into the page. */
async function wallets() {
  const announced = new Map();
  const listen = ({ detail }) => announced.set(detail.info.uuid, { name: detail.info.name, provider: detail.provider });
  addEventListener("eip6963:announceProvider", listen);
  dispatchEvent(new Event("eip6963:requestProvider"));
  await pause(0.1);
  removeEventListener("eip6963:announceProvider", listen);
  const found = [...announced.values()];
  return found.length || !globalThis.ethereum ? found : [{ name: "The browser’s wallet", provider: globalThis.ethereum }];
}

async function connected(provider, chainId) {
  const [account] = await provider.request({ method: "eth_requestAccounts" });
  if (!account) throw new Stopped("The wallet gave no account.");
  const wanted = `0x${chainId.toString(16)}`;
  if (BigInt(await provider.request({ method: "eth_chainId" })) !== BigInt(chainId)) {
    await provider.request({ method: "wallet_switchEthereumChain", params: [{ chainId: wanted }] });
    if (BigInt(await provider.request({ method: "eth_chainId" })) !== BigInt(chainId)) throw new Stopped(`The wallet is still on another chain than ${chainId}.`);
  }
  return account.toLowerCase();
}

/** Returns a checked quote for this account and plan: the open one from before, or else a new one. */
async function quoted(form, account) {
  const { chain, asset, treasury, quote } = form.dataset;
  const planId = form.plan.value;
  const open = payment.read();
  if (open && !open.transactionHash && open.from === account && open.planId === planId && Date.parse(open.notAfter) - Date.now() > SENT_BEFORE_MS) return open;
  const body = JSON.stringify({ planId, payerAddress: account });
  const answer = await fetch(quote, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  const said = await answer.json();
  if (answer.status !== 201) throw new Stopped(`${said.detail} (${said.code})`);
  const terms = said.data.paymentRequirement;
  const equal = (await compared("", said.quoteHash, said.data.quote)).equal && (await compared("", said.paymentRequirementHash, terms)).equal;
  const isOurs = terms.network === `eip155:${chain}` && terms.asset.toLowerCase() === asset && terms.payTo.toLowerCase() === treasury && terms.amount === said.price.exactAmountUnits;
  if (!equal || !isOurs) throw new Stopped("The quote does not match its hashes or this page. Nothing was paid.");
  const { quoteId, quoteHash, paymentRequirementHash, price, expiresAt } = said;
  const { proofRequired, proof } = said.data.next.claim;
  const kept = { quoteId, quoteHash, paymentRequirementHash, planId, from: account, amount: price.exactAmount, data: transferCall(terms.payTo, terms.amount), notAfter: expiresAt, typedData: proofRequired ? proof : null };
  payment.keep(kept);
  return kept;
}

/** Sends the transfer, and stores its hash before anything else happens. */
async function paid(form, provider, kept) {
  if (kept.typedData && !kept.integrity) {
    const signature = await provider.request({ method: "eth_signTypedData_v4", params: [kept.from, JSON.stringify(kept.typedData)] });
    kept.integrity = { type: "eip712", signature };
  }
  payment.keep({ ...kept, isSending: true });
  try {
    const transaction = { from: kept.from, to: form.dataset.asset, data: kept.data, value: "0x0" };
    kept.transactionHash = await provider.request({ method: "eth_sendTransaction", params: [transaction] });
  } catch (error) {
    if (error.code === REJECTED) payment.keep(kept);
    throw error;
  }
  payment.keep(kept);
}

/** Repeats the claim until the key is issued, waiting as long as the answers require. */
async function claimed(form, kept, say) {
  const { quoteId, quoteHash, paymentRequirementHash, transactionHash, integrity } = kept;
  const body = JSON.stringify({ quoteId, quoteHash, paymentRequirementHash, transactionHash, ...(integrity ? { integrity } : {}) });
  for (;;) {
    let answer, said;
    try {
      answer = await fetch(form.dataset.claim, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      said = await answer.json();
    } catch {
      say("The service does not answer. The claim continues by itself; the payment is safe.");
      await pause(5);
      continue;
    }
    if (answer.status === 201) return said.data.activationPacket;
    const wait = Number(answer.headers.get("Retry-After") ?? said.retryAfter) || 5;
    if (answer.status === 202) say("Paid. The transfer needs more confirmations; don’t pay again.");
    else if (answer.status === 429 || answer.status >= 500 || said.code === "claim_in_progress") say(`${said.detail} The claim continues in ${wait} s.`);
    else throw new Stopped(`${said.detail} (${said.code}) Don’t pay again: the transfer is ${transactionHash}.`);
    await pause(wait);
  }
}

/** Shows the key once: it is stored nowhere outside of this page. */
function showKey(outcome, packet) {
  const key = element("code", packet.apiKey);
  key.id = "new-key";
  const copy = element("button", "Copy", "copy-text");
  copy.type = "button";
  copy.dataset.copy = key.id;
  copy.hidden = !navigator.clipboard;
  const stored = element("button", "I have stored it", "button");
  stored.type = "button";
  stored.addEventListener("click", () => outcome.replaceChildren(element("p", "The key is no longer on this page.")));
  const line = element("p", "", "key-shown");
  line.append(key, " ", copy);
  outcome.replaceChildren(element("p", "Your key. It is shown once: store it now.", "verdict"), line, stored);
}

const STEPS = ["wallet", "quote", "pay", "claim", "key"];

async function beginBuying() {
  const form = document.getElementById("buy");
  if (!form || !globalThis.crypto?.subtle) return;
  const [outcome, button, recover] = [".outcome", "button[type=submit]", ".recover"].map((name) => form.querySelector(name));
  const say = (text, className = "") => outcome.replaceChildren(element("p", text, className));
  const found = await wallets();
  form.wallet.replaceChildren(...found.map(({ name }, at) => new Option(name, at)));
  if (!found.length) form.wallet.replaceChildren(new Option("No wallet found in this browser", ""));
  button.disabled = !found.length;
  form.hidden = false;

  function reached(step) {
    const at = STEPS.indexOf(step);
    for (const line of form.querySelectorAll("[data-step]")) {
      const place = STEPS.indexOf(line.dataset.step);
      line.className = place < at ? "done" : "";
      line.toggleAttribute("aria-current", place === at);
    }
  }

  async function goOn(steps) {
    button.disabled = true;
    recover.hidden = true;
    try {
      await steps();
    } catch (error) {
      const rejected = error.code === REJECTED && "You rejected it in the wallet. Nothing was paid.";
      const unknown = error.code === UNKNOWN_CHAIN && `The wallet does not know chain ${form.dataset.chain}. Add it there, and try again.`;
      say(rejected || unknown || error.message, "verdict wrong");
      recover.hidden = !payment.read()?.isSending;
    } finally {
      button.disabled = !found.length;
    }
  }

  async function claim(kept) {
    reached("claim");
    say(`Claiming with transaction ${kept.transactionHash}…`);
    const packet = await claimed(form, kept, say);
    payment.forget();
    reached("none");
    for (const line of form.querySelectorAll("[data-step]")) line.className = "done";
    showKey(outcome, packet);
  }

  async function buy() {
    const open = payment.read();
    if (open?.transactionHash) return claim(open);
    const { provider } = found[form.wallet.value];
    reached("wallet");
    say("Asking the wallet…");
    const account = await connected(provider, Number(form.dataset.chain));
    reached("quote");
    const kept = await quoted(form, account);
    reached("pay");
    say(`Pay ${kept.amount} ${form.dataset.coin} in the wallet.`);
    await paid(form, provider, kept);
    return claim(kept);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    goOn(buy);
  });
  form.addEventListener("click", ({ target }) => {
    if (target.dataset.act === "forget") {
      payment.forget();
      recover.hidden = true;
      say("Forgotten. No payment is open.");
    } else if (target.dataset.act === "claim" && form.hash.value && form.hash.reportValidity()) {
      const { isSending, ...kept } = { ...payment.read(), transactionHash: form.hash.value.toLowerCase() };
      payment.keep(kept);
      goOn(() => claim(kept));
    }
  });
  const open = payment.read();
  if (open?.transactionHash) goOn(() => claim(open));
  else if (open?.isSending) {
    reached("pay");
    say("This page was closed while the wallet was asked to pay. If it paid, enter the transaction’s hash.");
    recover.hidden = false;
  }
}

if (page) {
  begin();
  beginBuying();
}
