import { QueryClient } from "@tanstack/react-query";

/** Events say when something has changed; what was asked so lately is shown at once without asking. */
const FRESH_MS = 30_000;

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // The client repeats what is safe to repeat, and knows for how long.
        retry: false,
        // Requests are made without a network too, so that their failure is seen and said.
        networkMode: "always",
        refetchOnWindowFocus: false,
      },
      mutations: { networkMode: "always" },
    },
  });
}
