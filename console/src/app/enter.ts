/** What happens when a page of the console is opened, until somebody is signed in or has to say so. */
import { HoldfastError, type Schemas } from "@holdfast/client";
import { answerOf, createApi } from "../api/client.ts";
import { type Configuration, apiAddress, loadConfiguration } from "../auth/configuration.ts";
import type { Session } from "../auth/session.ts";
import { type SignIn, SignInFailed, canSignIn, createSignIn } from "../auth/sign-in.ts";

export interface SignedInEntry {
  readonly phase: "signed-in";
  readonly configuration: Configuration;
  readonly signIn: SignIn;
  readonly session: Session;
  readonly me: Schemas["Me"];
}

export type Entry =
  | { readonly phase: "entering" }
  /** The configuration could not be read, or the service did not answer. */
  | { readonly phase: "unreachable" }
  | { readonly phase: "no-issuer" }
  | {
      readonly phase: "asking";
      readonly signIn: SignIn;
      readonly returnTo: string;
      readonly failure: string | null;
    }
  | { readonly phase: "signed-out"; readonly signIn: SignIn }
  /** Signed in at the issuer, and a member of no organization. */
  | { readonly phase: "unknown-person"; readonly signIn: SignIn; readonly session: Session }
  | SignedInEntry;

/** The address within the console that the page was opened at. */
export const currentAddress = (): string =>
  location.pathname.slice(import.meta.env.BASE_URL.length - 1) + location.search + location.hash;

const HOME = "/";

export async function enter(): Promise<Entry> {
  let configuration: Configuration;
  try {
    configuration = await loadConfiguration();
  } catch {
    return { phase: "unreachable" };
  }
  if (!canSignIn(configuration)) return { phase: "no-issuer" };
  const signIn = createSignIn(configuration);
  const address = currentAddress();
  if (address.startsWith("/signed-out")) return { phase: "signed-out", signIn };
  if (address.startsWith("/callback")) return finish(configuration, signIn);
  if (!signIn.isReturning()) return { phase: "asking", signIn, returnTo: address, failure: null };
  try {
    return await signIn.begin({ returnTo: address, silent: true });
  } catch (error) {
    return { phase: "asking", signIn, returnTo: address, failure: codeOf(error) };
  }
}

async function finish(configuration: Configuration, signIn: SignIn): Promise<Entry> {
  try {
    const { session, returnTo } = await signIn.finish();
    // The code in the address has done its work.
    history.replaceState(null, "", import.meta.env.BASE_URL + returnTo.slice(1));
    return await meet(configuration, signIn, session);
  } catch (error) {
    const failure = codeOf(error);
    const returnTo = returnToOf(error);
    // A reload begins again, where the person wanted to go.
    history.replaceState(null, "", import.meta.env.BASE_URL + returnTo.slice(1));
    const isQuestion = failure === "login_required" || failure === "interaction_required";
    return { phase: "asking", signIn, returnTo, failure: isQuestion ? null : failure };
  }
}

async function meet(configuration: Configuration, signIn: SignIn, session: Session): Promise<Entry> {
  try {
    const { api } = createApi(apiAddress(configuration), { session });
    const me = await answerOf(api.GET("/v1/me"));
    return { phase: "signed-in", configuration, signIn, session, me };
  } catch (error) {
    const isRefused = error instanceof HoldfastError && [401, 403].includes(error.status ?? 0);
    return isRefused ? { phase: "unknown-person", signIn, session } : { phase: "unreachable" };
  }
}

const codeOf = (error: unknown): string => (error instanceof SignInFailed ? error.code : "unknown");

const returnToOf = (error: unknown): string =>
  error instanceof SignInFailed && error.returnTo !== undefined ? error.returnTo : HOME;
