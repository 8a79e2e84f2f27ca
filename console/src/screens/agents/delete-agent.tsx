import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { ConfirmDeletion } from "../../parts/confirm-deletion.tsx";
import { strongColor } from "../../parts/strong-color.ts";
import type { Agent } from "./fields.ts";
import { messages } from "./messages.ts";

export function DeleteAgent({ agent }: { readonly agent: Agent }): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isAsking, setIsAsking] = useState(false);
  const params = { path: { agent_id: agent.id } };
  return (
    <>
      <Button variant="outline" color="red" c={strongColor("red")} onClick={() => setIsAsking(true)}>
        {texts.remove}
      </Button>
      {isAsking && (
        <ConfirmDeletion
          title={texts.removeTitle(agent.name)}
          action={texts.removeAction}
          count={async () => {
            const { agents: _, ...besides } = await answerOf(
              api.GET("/v1/agents/{agent_id}/deletion", { params }),
            );
            return besides;
          }}
          onConfirm={async () => {
            await answerOf(api.DELETE("/v1/agents/{agent_id}", { params }));
            await navigate({ to: "/agents" });
            queries.removeQueries({ queryKey: ["agents", agent.id] });
            await queries.invalidateQueries({ queryKey: ["agents"] });
          }}
          onClose={() => setIsAsking(false)}
        />
      )}
    </>
  );
}
