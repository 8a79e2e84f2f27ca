import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useHoldfast } from "../../app/context.ts";
import { QueryView } from "../../parts/query-view.tsx";
import { AgentView } from "./agent-view.tsx";
import { NewAgent } from "./new-agent.tsx";
import { agentQuery } from "./queries.ts";

/** One agent: its settings, a try-out beside, and its history; `new` makes one. */
export function AgentScreen(): ReactNode {
  const { agentId } = useParams({ from: "/agents/$agentId" });
  return agentId === "new" ? <NewAgent /> : <Existing key={agentId} agentId={agentId} />;
}

function Existing({ agentId }: { readonly agentId: string }): ReactNode {
  const agent = useQuery(agentQuery(useHoldfast(), agentId));
  return <QueryView query={agent}>{(tagged) => <AgentView latest={tagged} />}</QueryView>;
}
