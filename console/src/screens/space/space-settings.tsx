import { Button, Group, Modal, NativeSelect, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast, useMe, useRoles } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { ConfirmDeletion } from "../../parts/confirm-deletion.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { messages } from "./messages.ts";

interface Props {
  readonly spaceId: string;
  readonly name: string;
  readonly onClose: () => void;
}

const ROLES = ["owner", "editor", "viewer"] as const;
type Role = (typeof ROLES)[number];

/** What owners of a space do with it: its name, who has which role, and its end. */
export function SpaceSettings({ spaceId, name, onClose }: Props): ReactNode {
  const texts = useMessages(messages).space;
  const { api } = useHoldfast();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [isDeleting, setIsDeleting] = useState(false);
  const params = { path: { space_id: spaceId } };
  if (isDeleting)
    return (
      <ConfirmDeletion
        title={texts.deleteTitle(name)}
        action={texts.delete}
        typeName={name}
        count={() => answerOf(api.GET("/v1/spaces/{space_id}/deletion", { params }))}
        onConfirm={async () => {
          await answerOf(api.DELETE("/v1/spaces/{space_id}", { params }));
          await queries.invalidateQueries({ queryKey: ["spaces"] });
          await navigate({ to: "/" });
        }}
        onClose={() => setIsDeleting(false)}
      />
    );
  return (
    <Modal opened onClose={onClose} title={texts.title} size="lg">
      <Stack>
        <NameForm spaceId={spaceId} name={name} />
        <Members spaceId={spaceId} />
        <Group>
          <Button color="red" variant="outline" onClick={() => setIsDeleting(true)}>
            {texts.delete}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function NameForm({ spaceId, name: before }: { readonly spaceId: string; readonly name: string }): ReactNode {
  const texts = useMessages(messages).space;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const [name, setName] = useState(before);
  const change = useMutation({
    mutationFn: () =>
      answerOf(
        api.PATCH("/v1/spaces/{space_id}", { params: { path: { space_id: spaceId } }, body: { name } }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["spaces"] }),
  });
  const problem = fieldErrorsOf(change.error)["name"] ?? change.error?.message;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <Group align="flex-end">
        <TextInput
          label={texts.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={problem}
          required
          flex={1}
        />
        <Button type="submit" loading={change.isPending} disabled={name === before}>
          {texts.save}
        </Button>
      </Group>
    </form>
  );
}

function Members({ spaceId }: { readonly spaceId: string }): ReactNode {
  const texts = useMessages(messages).space;
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const members = useQuery({
    queryKey: keyOf("members", "space", spaceId),
    queryFn: () =>
      answerOf(
        api.GET("/v1/spaces/{space_id}/members", {
          params: { path: { space_id: spaceId }, query: { limit: 1_000 } },
        }),
      ),
  });
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ["members"] });
  const change = useMutation({
    mutationFn: async ({ userId, role }: { readonly userId: string; readonly role: Role | null }) => {
      const params = { path: { space_id: spaceId, user_id: userId } };
      if (role === null) await answerOf(api.DELETE("/v1/spaces/{space_id}/members/{user_id}", { params }));
      else await answerOf(api.PUT("/v1/spaces/{space_id}/members/{user_id}", { params, body: { role } }));
    },
    onSettled: refresh,
  });
  return (
    <Stack gap="xs">
      <Title order={3} size="h5">
        {texts.members}
      </Title>
      {change.error !== null && <ScreenError error={change.error} />}
      <QueryView query={members}>
        {({ items }) => (
          <>
            <Table>
              <Table.Tbody>
                {items.map(({ user_id: userId, name, email, role }) => (
                  <Table.Tr key={userId}>
                    <Table.Td>
                      <Bidi>{name}</Bidi>
                      <Text size="xs" c="dimmed">
                        <Bidi>{email}</Bidi>
                      </Text>
                    </Table.Td>
                    <Table.Td>
                      <RoleSelect
                        label={texts.role(name)}
                        value={role}
                        onChange={(next) => change.mutate({ userId, role: next })}
                      />
                    </Table.Td>
                    <Table.Td ta="end">
                      <Button
                        size="compact-sm"
                        variant="default"
                        aria-label={texts.remove(name)}
                        onClick={() => change.mutate({ userId, role: null })}
                      >
                        ×
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
            <AddMember
              known={new Set(items.map(({ user_id: id }) => id))}
              onAdd={(userId, role) => change.mutate({ userId, role })}
            />
          </>
        )}
      </QueryView>
    </Stack>
  );
}

interface RoleProps {
  readonly label: string;
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}

function RoleSelect({ label, value, onChange }: RoleProps): ReactNode {
  const { roles } = useMessages(messages).space;
  return (
    <NativeSelect
      aria-label={label}
      data={ROLES.map((role) => ({ value: role, label: roles[role] }))}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as Role)}
      size="xs"
    />
  );
}

interface AddProps {
  readonly known: ReadonlySet<string>;
  readonly onAdd: (userId: string, role: Role) => void;
}

/** Admins see who is in the organization; other owners are told a person's id by an admin. */
function AddMember({ known, onAdd }: AddProps): ReactNode {
  const texts = useMessages(messages).space;
  const { api } = useHoldfast();
  const { organization } = useMe();
  const { isAdmin } = useRoles();
  const [person, setPerson] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const { data } = useQuery({
    queryKey: keyOf("members", "organization", organization.id),
    queryFn: () =>
      answerOf(
        api.GET("/v1/organizations/{organization_id}/members", {
          params: { path: { organization_id: organization.id }, query: { limit: 1_000 } },
        }),
      ),
    enabled: isAdmin,
  });
  const people = (data?.items ?? []).filter(({ user_id: id }) => !known.has(id));
  return (
    <Group align="flex-end">
      {isAdmin ? (
        <NativeSelect
          label={texts.person}
          data={[
            { value: "", label: texts.addHint },
            ...people.map(({ user_id: id, name, email }) => ({ value: id, label: `${name} · ${email}` })),
          ]}
          value={person}
          onChange={(event) => setPerson(event.currentTarget.value)}
          flex={1}
        />
      ) : (
        <TextInput
          label={`${texts.person} (id)`}
          value={person}
          onChange={(event) => setPerson(event.currentTarget.value.trim())}
          flex={1}
        />
      )}
      <RoleSelect label={texts.role(texts.person)} value={role} onChange={setRole} />
      <Button
        disabled={person === ""}
        onClick={() => {
          onAdd(person, role);
          setPerson("");
        }}
      >
        {texts.add}
      </Button>
    </Group>
  );
}
