import { Anchor, Button, Group, NativeSelect, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { useHoldfast, useMe, useRoles } from "../../app/context.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { AccessView, type SpaceAccess } from "../access/access-view.tsx";
import { MemberRole } from "./member-role.tsx";
import { type Member, membersQuery } from "./members.ts";
import { messages } from "./messages.ts";
import { MyAccess } from "./my-access.tsx";

type SpaceRole = "owner" | "editor" | "viewer";
const SPACE_ROLES = ["owner", "editor", "viewer"] as const;

/** One person: what they can see and why, and for admins their roles. */
export function PersonScreen(): ReactNode {
  const { userId } = useParams({ from: "/people/$userId" });
  const texts = useMessages(messages);
  const me = useMe();
  const { isAdmin } = useRoles();
  const { organization } = me;
  const members = useQuery({ ...membersQuery(useHoldfast(), organization.id), enabled: isAdmin });
  if (!isAdmin) {
    if (userId !== me.id) return <Empty title={texts.person.unknown} text={texts.othersText} />;
    return (
      <>
        <PageHeader title={me.name} text={<Bidi>{me.email}</Bidi>} />
        <MyAccess />
      </>
    );
  }
  return (
    <QueryView query={members}>
      {({ items }) => {
        const member = items.find(({ user_id: id }) => id === userId);
        if (member === undefined)
          return <Empty title={texts.person.unknown} text={texts.person.unknownText} />;
        return <Person key={userId} member={member} />;
      }}
    </QueryView>
  );
}

function Person({ member }: { readonly member: Member }): ReactNode {
  const { person } = useMessages(messages);
  const { api } = useHoldfast();
  const { id: myId, organization } = useMe();
  const { user_id: userId, name, email } = member;
  const isMe = userId === myId;
  const roles = useSpaceRoles(userId);
  return (
    <>
      <PageHeader title={name} text={<Bidi>{email}</Bidi>}>
        <MemberRole member={member} />
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link to="/keys" search={isMe ? {} : { whose: "everyone", user: userId }} {...props} />
          )}
        >
          {isMe ? person.myKeys : person.keys}
        </Button>
        <Button
          variant="default"
          renderRoot={(props) => (
            <Link to="/organization/$part" params={{ part: "audit" }} search={{ user: userId }} {...props} />
          )}
        >
          {isMe ? person.myAudit : person.audit}
        </Button>
      </PageHeader>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {isMe ? person.myAccess : person.access}
        </Title>
        <Text size="sm" c="dimmed">
          {person.accessText}
        </Text>
        {roles.error !== null && <ScreenError error={roles.error} />}
        <AccessView
          subject={userId}
          read={(query) =>
            answerOf(
              api.GET("/v1/organizations/{organization_id}/members/{user_id}/access", {
                params: { path: { organization_id: organization.id, user_id: userId }, query },
              }),
            )
          }
          role={(access) =>
            access.is_private ? undefined : (
              <RoleIn access={access} onChange={(role) => roles.mutate({ spaceId: access.space_id, role })} />
            )
          }
        />
        <GiveRole onGive={(spaceId, role) => roles.mutate({ spaceId, role })} />
        <Anchor size="sm" renderRoot={(props) => <Link to="/people" {...props} />}>
          {person.back}
        </Anchor>
      </Stack>
    </>
  );
}

function useSpaceRoles(userId: string) {
  const { api } = useHoldfast();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ spaceId, role }: { readonly spaceId: string; readonly role: SpaceRole | null }) => {
      const params = { path: { space_id: spaceId, user_id: userId } };
      if (role === null) await answerOf(api.DELETE("/v1/spaces/{space_id}/members/{user_id}", { params }));
      else await answerOf(api.PUT("/v1/spaces/{space_id}/members/{user_id}", { params, body: { role } }));
    },
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["access"] });
      await queries.invalidateQueries({ queryKey: ["members"] });
    },
  });
}

interface RoleInProps {
  readonly access: SpaceAccess;
  readonly onChange: (role: SpaceRole | null) => void;
}

/** Admins manage every shared space, also the roles in it. */
function RoleIn({ access, onChange }: RoleInProps): ReactNode {
  const { person } = useMessages(messages);
  return (
    <NativeSelect
      aria-label={person.roleIn(access.space_name ?? "")}
      size="xs"
      data={[
        { value: "", label: person.noRole },
        ...SPACE_ROLES.map((role) => ({ value: role, label: person.roles[role] })),
      ]}
      value={access.role ?? ""}
      onChange={({ currentTarget: { value } }) => onChange(value === "" ? null : (value as SpaceRole))}
    />
  );
}

/** A role in a space in which the person has none; what they have is changed in the list. */
function GiveRole({ onGive }: { readonly onGive: (spaceId: string, role: SpaceRole) => void }): ReactNode {
  const { person } = useMessages(messages);
  const { data: spaces = [] } = useQuery(spacesQuery(useHoldfast()));
  const [spaceId, setSpaceId] = useState("");
  const [role, setRole] = useState<SpaceRole>("viewer");
  return (
    <Stack gap="xs" mt="md">
      <Title order={3} size="h5">
        {person.addTo}
      </Title>
      <Group align="flex-end">
        <NativeSelect
          label={person.space}
          data={[
            { value: "", label: person.noSpace },
            ...spaces
              .filter(({ is_private: isPrivate }) => !isPrivate)
              .map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={spaceId}
          onChange={(event) => setSpaceId(event.currentTarget.value)}
        />
        <NativeSelect
          label={person.role}
          data={SPACE_ROLES.map((each) => ({ value: each, label: person.roles[each] }))}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as SpaceRole)}
        />
        <Button
          variant="default"
          disabled={spaceId === ""}
          onClick={() => {
            onGive(spaceId, role);
            setSpaceId("");
          }}
        >
          {person.give}
        </Button>
      </Group>
    </Stack>
  );
}
