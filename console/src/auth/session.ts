/**
 * The tokens of this tab, in memory alone: a reload gets new ones from the issuer. They are renewed by the
 * refresh token before they end, one renewal at a time.
 */
import type { TokenEndpointResponse } from "oauth4webapi";

/** A token that ends so soon is renewed first, so that it does not end on its way. */
const RENEW_BEFORE_MS = 30_000;

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string | undefined;
  /** For the sign-out at the issuer. */
  readonly idToken: string | undefined;
  /** In milliseconds of `Date.now()`. */
  readonly endsAt: number;
}

const UNKNOWN_LIFETIME_SECONDS = 300;

export function tokensOf(answer: TokenEndpointResponse, before?: Tokens): Tokens {
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token ?? before?.refreshToken,
    idToken: answer.id_token ?? before?.idToken,
    endsAt: Date.now() + (answer.expires_in ?? UNKNOWN_LIFETIME_SECONDS) * 1_000,
  };
}

/** The session has ended, and nothing but a new sign-in helps. */
export class SessionEnded extends Error {
  override name = "SessionEnded";
}

export interface Session {
  /** @throws SessionEnded */
  accessToken(): Promise<string>;
  /** For a token that the service refused: gets another one. @throws SessionEnded */
  renew(): Promise<string>;
  readonly idToken: string | undefined;
  /** Whether it has ended; changes once, from false to true. */
  hasEnded(): boolean;
  /** @returns a function that ends the subscription */
  onEnd(listener: () => void): () => void;
}

/** @param refresh asks the issuer for new tokens; throws if it refuses */
export function createSession(first: Tokens, refresh: (tokens: Tokens) => Promise<Tokens>): Session {
  let tokens = first;
  let renewal: Promise<string> | undefined;
  let isOver = false;
  const listeners = new Set<() => void>();
  const end = (): never => {
    if (!isOver) {
      isOver = true;
      for (const listener of listeners) listener();
    }
    throw new SessionEnded("The session has ended.");
  };
  const renewOnce = async (): Promise<string> => {
    if (tokens.refreshToken === undefined) return end();
    try {
      tokens = await refresh(tokens);
      return tokens.accessToken;
    } catch (error) {
      // Without a network, or from an issuer that fails, nothing is refused; the next request asks again.
      if (isPassing(error)) throw error;
      return end();
    } finally {
      renewal = undefined;
    }
  };
  const renew = (): Promise<string> => (renewal ??= renewOnce());
  return {
    async accessToken() {
      if (isOver) return end();
      return Date.now() < tokens.endsAt - RENEW_BEFORE_MS ? tokens.accessToken : renew();
    },
    renew,
    get idToken() {
      return tokens.idToken;
    },
    hasEnded: () => isOver,
    onEnd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const SERVER_ERRORS = 500;
const TOO_MANY = 429;

/** Whether the issuer may answer otherwise in a while: it was not reached, or it failed. */
function isPassing(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  const { response, cause } = error as { readonly response?: unknown; readonly cause?: unknown };
  const answer = [response, cause].find((one) => one instanceof Response);
  return answer !== undefined && (answer.status >= SERVER_ERRORS || answer.status === TOO_MANY);
}
