import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast, useMe } from "../../app/context.ts";
import { AccessView } from "../access/access-view.tsx";

/** What the person can do, by the endpoint that everybody has. */
export function MyAccess(): ReactNode {
  const { api } = useHoldfast();
  const { id } = useMe();
  return (
    <AccessView subject={id} read={(query) => answerOf(api.GET("/v1/me/access", { params: { query } }))} />
  );
}
