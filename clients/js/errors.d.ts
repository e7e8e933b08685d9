/** Returns the exception for an answer that is a refusal. */
export function refusal(status: number, body: any, retryAfterS: number | null): Refused;
/** The client's exceptions. A refusal has the problem's code, on which programs can branch, and its links. */
/** Base class of all exceptions that the client throws on purpose. */
export class ClientError extends Error {
    constructor(message: string, options?: ErrorOptions);
}
/** No answer arrived, even after any permitted retries. */
export class Unreachable extends ClientError {
}
/** The service's address, or a path below it, is invalid, so nothing was sent. */
export class AddressInvalid extends ClientError {
}
/** The key is empty or has characters that no API key has, so nothing was sent. */
export class KeyInvalid extends ClientError {
}
/** A quote does not match its hashes: don't pay it. */
export class Altered extends ClientError {
}
/** A published list does not match the statements about it, or there is no proof. */
export class NotProven extends ClientError {
}
/** The payment was not settled within the caller's waiting time. Claim again later; never pay again. */
export class Pending extends ClientError {
    constructor(answer: import("./api-types.js").components["schemas"]["PendingAnswer"]);
    answer: {
        code: "unknown_tx" | "confirmations" | "not_canonical" | "rpc_unavailable" | "rpc_disagree";
        depth: number | null;
        neededDepth: number | null;
        ok: import("./api-types.js").components["schemas"]["Ok"];
        quoteId: string;
        retryAfter: number;
        secondsLeft: number | null;
    };
}
/**
 * The service answered with a problem (RFC 9457). `code` is stable, `detail` is for people, and `links` are the next
 * steps, keyed by their relation. `retryAfterS` is null if the service stated no time. `body` is the whole problem.
 */
export class Refused extends ClientError {
    constructor(status: number, body: any, retryAfterS: number | null);
    status: number;
    code: string;
    detail: string;
    /** @type {Record<string, string>} */
    links: Record<string, string>;
    /** @type {{pointer: string, detail: string}[]} */
    errors: {
        pointer: string;
        detail: string;
    }[];
    retryable: boolean;
    /** @type {string | null} */
    requestId: string | null;
    retryAfterS: number | null;
    body: any;
}
/** The request is invalid. */
export class BadRequest extends Refused {
}
/** The request needs a valid key. */
export class Unauthorized extends Refused {
}
/** The request needs a payment, or the one that it names does not match. */
export class PaymentNeeded extends Refused {
}
/** The key does not include this operation. */
export class Forbidden extends Refused {
}
/** There is nothing here. */
export class NotFound extends Refused {
}
/** The request conflicts with the current state. */
export class Conflict extends Refused {
}
/** A limit is reached, and waiting for it would take longer than the client waits. */
export class TooManyRequests extends Refused {
}
/** The service failed or can't answer at the moment. */
export class ServerFault extends Refused {
}
