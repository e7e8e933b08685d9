/** The client's rules, without any sending: when to retry, what a quote's hash covers, what a list proves. */

import { AddressInvalid, KeyInvalid, NotProven } from "./errors.js";

/** @typedef {import("./api-types.js").components["schemas"]} Schemas */
/** @typedef {{status: number, body: any, retryAfterS: number | null}} Reply */

/** How often a request is sent at most. */
export const ATTEMPTS = 4;

/** Pause before the second attempt if the service stated no time; it doubles before each further one. */
const FIRST_PAUSE_S = 0.25;

const PASSING = [429, 502, 503, 504];

/**
 * Returns the seconds to wait before a retry after attempt number `attempt` (from 1), or null to stop. `reply` is null
 * if none arrived. A 429 means that the request was refused before any work, so it may always be retried.
 */
export function pauseBeforeAgain(
  /** @type {boolean} */ repeatable,
  /** @type {Reply | null} */ reply,
  /** @type {number} */ attempt,
  /** @type {number} */ mostWaitS,
) {
  if (attempt >= ATTEMPTS) return null;
  const usual = FIRST_PAUSE_S * 2 ** (attempt - 1);
  if (reply === null) return repeatable ? usual : null;
  if (!mayDifferLater(reply) || !(repeatable || reply.status === 429)) return null;
  const pause = reply.retryAfterS ?? usual;
  return pause <= mostWaitS ? pause : null;
}

/** Converts a `Retry-After` field, which is in seconds or a date, to seconds from `nowMs`; null if it is neither. */
export function secondsOf(/** @type {string | null} */ retryAfter, /** @type {number} */ nowMs) {
  if (retryAfter === null || retryAfter.trim() === "") return null;
  const seconds = Number(retryAfter);
  if (!Number.isNaN(seconds)) return Math.max(0, seconds);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? null : Math.max(0, (at - nowMs) / 1000);
}

/**
 * Returns the address of a path below the service's, with a query. Throws `AddressInvalid`. `mayBeRelative` allows an
 * address without a host, which is relative to the page or to the caller's own `fetch`.
 */
export function addressOf(
  /** @type {string} */ baseUrl,
  /** @type {string} */ path,
  /** @type {Record<string, any>} */ query,
  /** @type {boolean} */ mayBeRelative,
) {
  if (!path.startsWith("/")) throw new AddressInvalid(`a path begins with a slash: ${JSON.stringify(path)}`);
  if (!(isOfAService(baseUrl) || (mayBeRelative && /^(\/[^/?#][^?#]*)?$/.test(baseUrl)))) {
    const shown = JSON.stringify(baseUrl.replace(/\/\/.*@/, "//...@"));
    throw new AddressInvalid(`a service's address is http:// or https:// and a host, without a password: ${shown}`);
  }
  const named = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (named.length === 0) return baseUrl + path;
  return `${baseUrl}${path}${path.includes("?") ? "&" : "?"}${new URLSearchParams(named)}`;
}

/**
 * Returns the header field with the key, if there is one. Throws `KeyInvalid`.
 *
 * @returns {Record<string, string>}
 */
export function authorization(/** @type {string | null | undefined} */ key) {
  if (key === undefined || key === null) return {};
  if (!/^[!-~]+$/.test(key)) {
    throw new KeyInvalid("an API key has printable ASCII characters without spaces, and at least one");
  }
  return { Authorization: `Bearer ${key}` };
}

/** Serializes a value as RFC 8785 requires: JavaScript's numbers and strings, and sorted names in objects. */
export function canonical(/** @type {any} */ value) {
  return JSON.stringify(value, (_, inner) =>
    inner !== null && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.keys(inner).sort().map((name) => [name, inner[name]]))
      : inner,
  );
}

/** Returns the SHA-256 of bytes or of a text as hex. */
export async function sha256(/** @type {string | ArrayBuffer} */ content) {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns the file to which a document's proof refers. Throws `NotProven` if there is no such proof. */
export function listToVerify(/** @type {Schemas["TokenHolders"]} */ document) {
  const proof = document.consistency?.proof;
  if (!proof) throw new NotProven("the document has no proof yet");
  if (proof.verdict !== "proven" || !proof.holderList) {
    throw new NotProven(`the service itself reports that the list is ${proof.verdict}`);
  }
  return /** @type {Schemas["HolderListFile"]} */ (proof.holderList);
}

/**
 * Verifies the list's file (gzip) against its document. Throws `NotProven` with what does not match.
 *
 * @returns {Promise<{holderCount: number, totalSupplyRaw: bigint, block: number, blockHash: string}>}
 */
export async function verified(
  /** @type {Schemas["TokenHolders"]} */ document,
  /** @type {ArrayBuffer} */ packed,
) {
  const file = listToVerify(document);
  const consistency = /** @type {Schemas["Consistency"]} */ (document.consistency);
  if ((await sha256(packed)) !== file.sha256) throw new NotProven("the list is not the file that the proof names");
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const [header, ...rows] = (await new Response(unpacked).text()).trimEnd().split("\n");
  if (header !== "address,balance_raw") throw new NotProven(`the list has the columns ${header}`);
  const balances = new Map(rows.map((row) => /** @type {[string, bigint]} */ (named(row.split(",")))));
  let total = 0n;
  for (const balance of balances.values()) total += balance;
  if (balances.size !== rows.length || [...balances.values()].some((balance) => balance <= 0n)) {
    throw new NotProven("the list contains an address twice, or one that holds nothing");
  }
  if (rows.length !== document.holderCount) {
    throw new NotProven(`the list has ${rows.length} holders, but the document states ${document.holderCount}`);
  }
  if (String(total) !== consistency.proof.sumOfBalances || String(total) !== document.totalSupplyRaw) {
    throw new NotProven(`the balances sum up to ${total}, but the document states ${document.totalSupplyRaw}`);
  }
  return { holderCount: rows.length, totalSupplyRaw: total, block: consistency.block, blockHash: consistency.blockHash };
}

function isOfAService(/** @type {string} */ address) {
  if (!/^https?:\/\/[^/?#\\][^?#]*$/i.test(address) || !URL.canParse(address)) return false;
  const { username, password } = new URL(address);
  return username === "" && password === ""; // `fetch` refuses an address that has them
}

function named(/** @type {string[]} */ [address, balance]) {
  return [address, BigInt(balance)];
}

function mayDifferLater(/** @type {Reply} */ { status, body }) {
  if (status < 400) return false;
  if (typeof body === "object" && body !== null && "retryable" in body) return Boolean(body.retryable);
  return PASSING.includes(status);
}
