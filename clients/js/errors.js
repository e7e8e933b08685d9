/** The exceptions of the client. A refusal has the problem's code, by which programs branch, and its links. */

/** Root of everything that the client throws on purpose. */
export class ClientError extends Error {
  constructor(/** @type {string} */ message, /** @type {ErrorOptions} */ options = {}) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came, also after what may be sent again was sent again. */
export class Unreachable extends ClientError {}

/** The service's address, or a path below it, can't be one, so nothing was sent. */
export class AddressInvalid extends ClientError {}

/** The key is empty, or has characters that no key of a service has, so nothing was sent. */
export class KeyInvalid extends ClientError {}

/** A quote is not what its hashes say: don't pay it. */
export class Altered extends ClientError {}

/** A published list does not add up to what is said of it, or there is no proof. */
export class NotProven extends ClientError {}

/** A payment was not settled in the time that the caller would wait. Claim again later; never pay again. */
export class Pending extends ClientError {
  constructor(/** @type {import("./api-types.js").components["schemas"]["PendingAnswer"]} */ answer) {
    super(`the payment is not settled yet: ${answer.code}`);
    this.answer = answer;
  }
}

/**
 * The service answered with a problem (RFC 9457). `code` is stable, `detail` is for people, `links` says where to go on,
 * by what is there. `retryAfterS` is null where the service named no time. `body` is the whole problem.
 */
export class Refused extends ClientError {
  constructor(/** @type {number} */ status, /** @type {any} */ body, /** @type {number | null} */ retryAfterS) {
    const problem = typeof body === "object" && body !== null ? body : {};
    const code = String(problem.code ?? "unknown");
    super(`${code} (${status}): ${problem.detail || problem.title || `HTTP ${status}`}`);
    this.status = status;
    this.code = code;
    this.detail = String(problem.detail ?? "");
    /** @type {Record<string, string>} */
    this.links = problem.links ?? {};
    /** @type {{pointer: string, detail: string}[]} */
    this.errors = problem.errors ?? [];
    this.retryable = Boolean(problem.retryable);
    /** @type {string | null} */
    this.requestId = problem.requestId ?? null;
    this.retryAfterS = retryAfterS;
    this.body = body;
  }
}

/** The request can't be used as it is. */
export class BadRequest extends Refused {}

/** A valid key is needed. */
export class Unauthorized extends Refused {}

/** A payment is needed, or the one that was named does not match. */
export class PaymentNeeded extends Refused {}

/** The key does not include this. */
export class Forbidden extends Refused {}

/** There is nothing here. */
export class NotFound extends Refused {}

/** The request does not fit the current state. */
export class Conflict extends Refused {}

/** A limit is reached, and its wait is longer than the client's. */
export class TooManyRequests extends Refused {}

/** The service failed, or can't answer at the moment. */
export class ServerFault extends Refused {}

/** @type {Record<number, typeof Refused>} */
const KINDS = {
  401: Unauthorized,
  402: PaymentNeeded,
  403: Forbidden,
  404: NotFound,
  409: Conflict,
  429: TooManyRequests,
};

/** Returns the exception of an answer that is a refusal. */
export function refusal(
  /** @type {number} */ status,
  /** @type {any} */ body,
  /** @type {number | null} */ retryAfterS,
) {
  const Kind = KINDS[status] ?? (status >= 500 ? ServerFault : BadRequest);
  return new Kind(status, body, retryAfterS);
}
