import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { lastSpace } from "../../app/preferences.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { ScreenLoading } from "../../parts/screen-loading.tsx";

/** Leads to the space that was looked at last, or to the first steps if there is nothing to look at yet. */
export function HomeScreen(): ReactNode {
  const holdfast = useHoldfast();
  const spaces = useQuery(spacesQuery(holdfast));
  const any = useQuery({
    queryKey: keyOf("documents", "any"),
    queryFn: () =>
      answerOf(holdfast.api.POST("/v1/data/search", { params: { query: { limit: 1 } }, body: {} })),
  });
  const error = spaces.error ?? any.error;
  if (error !== null)
    return <ScreenError error={error} retry={() => void Promise.all([spaces.refetch(), any.refetch()])} />;
  if (spaces.data === undefined || any.data === undefined) return <ScreenLoading />;
  if (any.data.total_items === 0) return <Navigate to="/welcome" replace />;
  const last = lastSpace();
  const found =
    spaces.data.find(({ id }) => id === last) ??
    spaces.data.find(({ id }) => id === any.data.items[0]?.space_id) ??
    spaces.data[0];
  return found === undefined ? (
    <Navigate to="/welcome" replace />
  ) : (
    <Navigate to="/spaces/$spaceId" params={{ spaceId: found.id }} replace />
  );
}
