import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ScreenError } from "./screen-error.tsx";
import { ScreenLoading } from "./screen-loading.tsx";

interface Props<T> {
  readonly query: Pick<UseQueryResult<T>, "data" | "error" | "refetch">;
  readonly children: (data: T) => ReactNode;
}

/** What was asked, or that it loads, or why it failed. What is shown stays while it is asked again. */
export function QueryView<T>({ query, children }: Props<T>): ReactNode {
  const { data, error, refetch } = query;
  if (data !== undefined) return children(data);
  if (error !== null) return <ScreenError error={error} retry={() => void refetch()} />;
  return <ScreenLoading />;
}
