import { NativeSelect } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast, useMe } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import type { Member } from "./members.ts";
import { messages } from "./messages.ts";

type Role = Member["role"];
export const ROLES = ["member", "admin"] as const satisfies readonly Role[];

/**
 * The role in the organization. What the service refuses, such as the end of the last admin, is said below.
 */
export function MemberRole({ member }: { readonly member: Member }): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const { organization } = useMe();
  const queries = useQueryClient();
  const { user_id: userId, name, email } = member;
  const change = useMutation({
    mutationFn: (role: Role) =>
      answerOf(
        api.PUT("/v1/organizations/{organization_id}/members/{user_id}", {
          params: { path: { organization_id: organization.id, user_id: userId } },
          body: { name, email, role },
        }),
      ),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["members"] });
      await queries.invalidateQueries({ queryKey: ["me"] });
    },
  });
  return (
    <NativeSelect
      aria-label={texts.roleOf(name)}
      size="xs"
      maw={220}
      data={ROLES.map((role) => ({ value: role, label: texts.roles[role] }))}
      value={change.isPending ? change.variables : member.role}
      onChange={(event) => change.mutate(event.currentTarget.value as Role)}
      error={change.error?.message}
    />
  );
}
