import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast, useMe } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { ConfirmDeletion } from "../../parts/confirm-deletion.tsx";
import type { Member } from "./members.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly member: Member;
  readonly onClose: () => void;
}

export function RemovePerson({ member, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const { organization } = useMe();
  const queries = useQueryClient();
  const { user_id: userId, name } = member;
  const params = { path: { organization_id: organization.id, user_id: userId } };
  return (
    <ConfirmDeletion
      title={texts.removeTitle(name)}
      action={texts.remove}
      count={() =>
        answerOf(api.GET("/v1/organizations/{organization_id}/members/{user_id}/deletion", { params }))
      }
      onConfirm={async () => {
        await answerOf(api.DELETE("/v1/organizations/{organization_id}/members/{user_id}", { params }));
        await queries.invalidateQueries({ queryKey: ["members"] });
      }}
      onClose={onClose}
    />
  );
}
