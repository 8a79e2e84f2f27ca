import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { createApi } from "../api/client.ts";
import { createRequestLog } from "../api/request-log.ts";
import { apiAddress } from "../auth/configuration.ts";
import { createListener, createLive } from "../live/live.ts";
import { type Console, ConsoleContext } from "./context.ts";
import { type SignedInEntry, currentAddress } from "./enter.ts";
import { createQueries } from "./queries.ts";
import { router } from "./router.ts";

/** The console of somebody who has signed in. */
export function SignedIn({ entry }: { readonly entry: SignedInEntry }): ReactNode {
  const [queries] = useState(createQueries);
  const [value] = useState(() => createConsole(entry, queries));
  useEffect(
    () =>
      router.subscribe("onBeforeNavigate", ({ pathChanged }) => {
        if (pathChanged) value.requests.clear();
      }),
    [value],
  );
  return (
    <QueryClientProvider client={queries}>
      <ConsoleContext value={value}>
        <RouterProvider router={router} />
      </ConsoleContext>
    </QueryClientProvider>
  );
}

function createConsole(
  { configuration, session, signIn, me }: SignedInEntry,
  queries: ReturnType<typeof createQueries>,
): Console {
  const address = apiAddress(configuration);
  const requests = createRequestLog();
  const listener = createListener();
  const events = createApi(address, { session, send: listener.send });
  const live = createLive(events, queries, listener);
  session.onEnd(live.stop);
  return {
    configuration,
    address,
    session,
    me,
    requests,
    live,
    holdfast: createApi(address, { session, log: requests }),
    signOut() {
      live.stop();
      queries.clear();
      void signIn.end(session);
    },
    signInAgain: () => void signIn.begin({ returnTo: currentAddress() }),
  };
}
