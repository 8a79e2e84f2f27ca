import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast, useMe } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { ConfirmDeletion } from "../../parts/confirm-deletion.tsx";
import { type Member, countRemoval } from "./members.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly member: Member;
  readonly onClose: () => void;
}

export function RemovePerson({ member, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const { organization } = useMe();
  const queries = useQueryClient();
  const { user_id: userId, name } = member;
  return (
    <ConfirmDeletion
      title={texts.removeTitle(name)}
      action={texts.remove}
      count={() => countRemoval(holdfast, organization.id, userId)}
      onConfirm={async () => {
        await answerOf(
          holdfast.api.DELETE("/v1/organizations/{organization_id}/members/{user_id}", {
            params: { path: { organization_id: organization.id, user_id: userId } },
          }),
        );
        await queries.invalidateQueries({ queryKey: ["members"] });
      }}
      onClose={onClose}
    />
  );
}
