import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { useMessages } from "../../messages/messages.ts";
import { NameDialog } from "../../parts/name-dialog.tsx";
import { useHoldfast } from "../context.ts";
import { messages } from "../messages.ts";

export function NewSpace({ onClose }: { readonly onClose: () => void }): ReactNode {
  const texts = useMessages(messages).newSpace;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const create = async (name: string): Promise<void> => {
    const { id } = await answerOf(api.POST("/v1/spaces", { body: { name } }));
    await queries.invalidateQueries({ queryKey: ["spaces"] });
    await navigate({ to: "/spaces/$spaceId", params: { spaceId: id } });
  };
  return <NameDialog title={texts.title} action={texts.create} onSave={create} onClose={onClose} />;
}
