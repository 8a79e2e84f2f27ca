import { ActionIcon, Button, Group, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../../api/client.ts";
import { keyOf } from "../../../api/keys.ts";
import { useHoldfast, useMe, useRoles } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { QueryView } from "../../../parts/query-view.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { membersQuery } from "../../people/members.ts";
import { messages } from "./messages.ts";

type Member = Schemas["SpaceMember"];
type Role = Member["role"];

const ROLES: readonly Role[] = ["owner", "editor", "viewer"];
const PAGE = 100;
const isRole = (value: string | null): value is Role => ROLES.some((role) => role === value);

/** Who is in a space, and as what. A change that is refused is undone and said. */
export function Members({ spaceId }: { readonly spaceId: string }): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const members = useQuery({
    queryKey: keyOf("members", spaceId),
    queryFn: ({ signal }) => readMembers(api, spaceId, signal),
  });
  const settled = (): Promise<void> => queries.invalidateQueries({ queryKey: ["members", spaceId] });
  const put = useMutation({
    mutationFn: ({ userId, role }: { userId: string; role: Role }) =>
      answerOf(
        api.PUT("/v1/spaces/{space_id}/members/{user_id}", {
          params: { path: { space_id: spaceId, user_id: userId } },
          body: { role },
        }),
      ),
    onSettled: settled,
  });
  const remove = useMutation({
    mutationFn: (userId: string) =>
      answerOf(
        api.DELETE("/v1/spaces/{space_id}/members/{user_id}", {
          params: { path: { space_id: spaceId, user_id: userId } },
        }),
      ),
    onSettled: settled,
  });
  const failure = put.error ?? remove.error;
  const add = (userId: string, role: Role): void => put.mutate({ userId, role });
  return (
    <section aria-labelledby="space-members">
      <Stack gap="xs">
        <Title order={2} size="h4" id="space-members">
          {texts.members}
        </Title>
        <Text size="xs" c="dimmed">
          {ROLES.map((role) => texts.rolesText[role]).join(" ")}
        </Text>
        <QueryView query={members}>
          {(list) => (
            <Stack gap="xs" component="ul" p={0} m={0} style={{ listStyle: "none" }}>
              {list.map((member) => (
                <MemberLine
                  key={member.user_id}
                  member={member}
                  onRole={(role) => add(member.user_id, role)}
                  onRemove={() => remove.mutate(member.user_id)}
                />
              ))}
              {list.length === 0 && <Text size="sm">{texts.nobody}</Text>}
            </Stack>
          )}
        </QueryView>
        {failure !== null && <ScreenError error={failure} />}
        <NewMember known={members.data ?? []} onAdd={add} isAdding={put.isPending} />
      </Stack>
    </section>
  );
}

async function readMembers(
  api: ReturnType<typeof useHoldfast>["api"],
  spaceId: string,
  signal: AbortSignal,
): Promise<Member[]> {
  const members: Member[] = [];
  for (let page = 1; ; page += 1) {
    const params = { path: { space_id: spaceId }, query: { page, limit: PAGE } };
    const answer = await answerOf(api.GET("/v1/spaces/{space_id}/members", { params, signal }));
    members.push(...answer.items);
    if (page >= answer.total_pages) return members;
  }
}

interface LineProps {
  readonly member: Member;
  readonly onRole: (role: Role) => void;
  readonly onRemove: () => void;
}

function MemberLine({ member, onRole, onRemove }: LineProps): ReactNode {
  const texts = useMessages(messages);
  return (
    <Group component="li" wrap="nowrap" gap="xs">
      <Stack gap={0} flex={1} miw={0}>
        <Text size="sm" truncate>
          <Bidi>{member.name}</Bidi>
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {member.email}
        </Text>
      </Stack>
      <RoleSelect label={texts.role(member.name)} value={member.role} onChange={onRole} />
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={texts.remove(member.name)}
        title={texts.remove(member.name)}
        onClick={onRemove}
      >
        <span aria-hidden>×</span>
      </ActionIcon>
    </Group>
  );
}

interface RoleProps {
  readonly label: string;
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}

function RoleSelect({ label, value, onChange }: RoleProps): ReactNode {
  const { roles } = useMessages(messages);
  return (
    <Select
      w={140}
      aria-label={label}
      allowDeselect={false}
      value={value}
      onChange={(role) => isRole(role) && onChange(role)}
      data={ROLES.map((role) => ({ value: role, label: roles[role] }))}
    />
  );
}

interface NewProps {
  readonly known: readonly Member[];
  readonly onAdd: (userId: string, role: Role) => void;
  readonly isAdding: boolean;
}

/** Admins choose from the organization; other owners, who do not see it, give an id. */
function NewMember({ known, onAdd, isAdding }: NewProps): ReactNode {
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const { isAdmin } = useRoles();
  const { organization } = useMe();
  const [userId, setUserId] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const { data } = useQuery({ ...membersQuery(holdfast, organization.id), enabled: isAdmin });
  const people = data?.items ?? [];
  const others = people.filter((person) => !known.some((member) => member.user_id === person.user_id));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onAdd(userId.trim(), role);
        setUserId("");
      }}
    >
      <Group align="flex-end" gap="xs">
        {isAdmin ? (
          <Select
            flex="1 1 180px"
            label={texts.addMember}
            placeholder={texts.choose}
            searchable
            value={userId === "" ? null : userId}
            onChange={(chosen) => setUserId(chosen ?? "")}
            data={others.map(({ user_id: value, name, email }) => ({ value, label: `${name} · ${email}` }))}
          />
        ) : (
          <TextInput
            flex="1 1 180px"
            label={texts.userId}
            description={texts.onlyAdmins}
            value={userId}
            onChange={(event) => setUserId(event.currentTarget.value)}
          />
        )}
        <RoleSelect label={texts.newRole} value={role} onChange={setRole} />
        <Button type="submit" variant="default" loading={isAdding} disabled={userId.trim() === ""}>
          {texts.add}
        </Button>
      </Group>
    </form>
  );
}
