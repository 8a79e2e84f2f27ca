/** What every screen has: who is signed in, the client, the events, and what this service is. */
import type { Holdfast, Schemas } from "@holdfast/client";
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useSyncExternalStore } from "react";
import { answerOf } from "../api/client.ts";
import { keyOf } from "../api/keys.ts";
import type { RequestLog } from "../api/request-log.ts";
import type { Configuration } from "../auth/configuration.ts";
import type { Session } from "../auth/session.ts";
import type { Live, LiveState } from "../live/live.ts";

export interface Console {
  readonly configuration: Configuration;
  /** The origin of the service. */
  readonly address: string;
  readonly session: Session;
  readonly holdfast: Holdfast;
  readonly live: Live;
  readonly requests: RequestLog;
  /** As it was at the sign-in; {@link useMe} has it as it is. */
  readonly me: Schemas["Me"];
  signOut(): void;
  /** Leads through the issuer and back to this address. */
  signInAgain(): void;
}

export const ConsoleContext = createContext<Console | null>(null);

export function useConsole(): Console {
  const value = useContext(ConsoleContext);
  if (value === null) throw new Error("No screen is shown before somebody has signed in.");
  return value;
}

export const useHoldfast = (): Holdfast => useConsole().holdfast;

export function useMe(): Schemas["Me"] {
  const { holdfast, me } = useConsole();
  const { data } = useQuery({
    queryKey: keyOf("me"),
    queryFn: () => answerOf(holdfast.api.GET("/v1/me")),
    initialData: me,
  });
  return data;
}

/** What the person is beside what they are in each space; the service decides, and this only hides. */
export function useRoles(): { readonly isAdmin: boolean; readonly isOperator: boolean } {
  const me = useMe();
  return {
    isAdmin: me.organization.role === "admin",
    isOperator: me.roles.includes("operators"),
  };
}

export function useLiveState(): LiveState {
  const { live } = useConsole();
  return useSyncExternalStore(live.onState, live.state);
}
