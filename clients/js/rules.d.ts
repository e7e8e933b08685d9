/**
 * Returns the seconds to wait before a retry after attempt number `attempt` (from 1), or null to stop. `reply` is null
 * if none arrived. A 429 means that the request was refused before any work, so it may always be retried.
 */
export function pauseBeforeAgain(repeatable: boolean, reply: Reply | null, attempt: number, mostWaitS: number): number | null;
/** Converts a `Retry-After` field, which is in seconds or a date, to seconds from `nowMs`; null if it is neither. */
export function secondsOf(retryAfter: string | null, nowMs: number): number | null;
/**
 * Returns the address of a path below the service's, with a query. Throws `AddressInvalid`. `mayBeRelative` allows an
 * address without a host, which is relative to the page or to the caller's own `fetch`.
 */
export function addressOf(baseUrl: string, path: string, query: Record<string, any>, mayBeRelative: boolean): string;
/**
 * Returns the header field with the key, if there is one. Throws `KeyInvalid`.
 *
 * @returns {Record<string, string>}
 */
export function authorization(key: string | null | undefined): Record<string, string>;
/** Serializes a value as RFC 8785 requires: JavaScript's numbers and strings, and sorted names in objects. */
export function canonical(value: any): string;
/** Returns the SHA-256 of bytes or of a text as hex. */
export function sha256(content: string | ArrayBuffer): Promise<string>;
/** Returns the file to which a document's proof refers. Throws `NotProven` if there is no such proof. */
export function listToVerify(document: Schemas["TokenHolders"]): Schemas["HolderListFile"];
/**
 * Verifies the list's file (gzip) against its document. Throws `NotProven` with what does not match.
 *
 * @returns {Promise<{holderCount: number, totalSupplyRaw: bigint, block: number, blockHash: string}>}
 */
export function verified(document: Schemas["TokenHolders"], packed: ArrayBuffer): Promise<{
    holderCount: number;
    totalSupplyRaw: bigint;
    block: number;
    blockHash: string;
}>;
/** @typedef {import("./api-types.js").components["schemas"]} Schemas */
/** @typedef {{status: number, body: any, retryAfterS: number | null}} Reply */
/** How often a request is sent at most. */
export const ATTEMPTS: 4;
export type Schemas = import("./api-types.js").components["schemas"];
export type Reply = {
    status: number;
    body: any;
    retryAfterS: number | null;
};
