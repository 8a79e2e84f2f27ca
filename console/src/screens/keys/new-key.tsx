import {
  Button,
  Checkbox,
  Group,
  Modal,
  MultiSelect,
  NativeSelect,
  Stack,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { answerOf, fieldErrorsOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast, useMe, useRoles } from "../../app/context.ts";
import { messages as app } from "../../app/messages.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { useMessages } from "../../messages/messages.ts";
import { errorUnder } from "../../parts/lists/error-under.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { membersQuery } from "../people/members.ts";
import { CAPABILITIES, type Capability, type Created } from "./keys.ts";
import { BY_DEFAULT, expiryOf, type Lifetime } from "./lifetime.ts";
import { LifetimeFields } from "./lifetime-fields.tsx";
import { messages } from "./messages.ts";

interface Draft {
  readonly ownerId: string;
  readonly name: string;
  readonly lifetime: Lifetime;
  readonly spaces: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly networks: string;
}

interface Props {
  /** Whom the key acts for at first; absent: for the person. */
  readonly ownerId: string | undefined;
  readonly onMade: (key: Created) => void;
  readonly onClose: () => void;
}

const SHOWN_FIELDS = ["name", "expires_at", "spaces", "capabilities", "allowed_cidrs", "user_id"];

export function NewKey({ ownerId, onMade, onClose }: Props): ReactNode {
  const texts = useMessages(messages);
  const { form } = texts;
  const { isAdmin } = useRoles();
  const { id: myId } = useMe();
  const [draft, setDraft] = useState<Draft>({
    ownerId: ownerId ?? myId,
    name: "",
    lifetime: BY_DEFAULT,
    spaces: [],
    capabilities: CAPABILITIES,
    networks: "",
  });
  const set = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }));
  const made = useMakeKey(onMade);
  const problems = fieldErrorsOf(made.error);
  const isElsewhere = made.error !== null && !SHOWN_FIELDS.some((field) => errorUnder(problems, field));
  return (
    <Modal opened onClose={onClose} title={form.title} size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          made.mutate(draft);
        }}
      >
        <Stack>
          {isAdmin && (
            <OwnerField
              value={draft.ownerId}
              error={errorUnder(problems, "user_id")}
              onChange={(id) => set({ ownerId: id, spaces: [] })}
            />
          )}
          <TextInput
            label={form.name}
            description={form.nameHint}
            value={draft.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
            error={errorUnder(problems, "name")}
            required
            maxLength={255}
            data-autofocus
          />
          <LifetimeFields
            value={draft.lifetime}
            onChange={(lifetime) => set({ lifetime })}
            error={errorUnder(problems, "expires_at")}
          />
          <SpacesField
            ownerId={draft.ownerId}
            value={draft.spaces}
            onChange={(spaces) => set({ spaces })}
            error={errorUnder(problems, "spaces")}
          />
          <Checkbox.Group
            label={form.capabilities}
            value={[...draft.capabilities]}
            onChange={(capabilities) => set({ capabilities: capabilities as Capability[] })}
            error={errorUnder(problems, "capabilities")}
          >
            <Group mt={4}>
              {CAPABILITIES.map((each) => (
                <Checkbox key={each} value={each} label={texts.capabilities[each]} />
              ))}
            </Group>
          </Checkbox.Group>
          <Textarea
            label={form.networks}
            description={form.networksHint}
            autosize
            minRows={2}
            maxRows={8}
            value={draft.networks}
            onChange={(event) => set({ networks: event.currentTarget.value })}
            error={errorUnder(problems, "allowed_cidrs")}
          />
          {isElsewhere && <ScreenError error={made.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {texts.cancel}
            </Button>
            <Button type="submit" loading={made.isPending} disabled={draft.capabilities.length === 0}>
              {form.create}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Makes the key; for the person by their own path, and for others by the organization's. */
function useMakeKey(onMade: (key: Created) => void) {
  const { api } = useHoldfast();
  const { id: myId, organization } = useMe();
  const queries = useQueryClient();
  return useMutation({
    // Secrets are not kept longer than they are shown.
    gcTime: 0,
    mutationFn: (draft: Draft): Promise<Created> => {
      const networks = draft.networks.split(/\s+/).filter((network) => network !== "");
      const body = {
        name: draft.name,
        expires_at: expiryOf(draft.lifetime),
        spaces: draft.spaces.length === 0 ? null : [...draft.spaces],
        capabilities: draft.capabilities.length === CAPABILITIES.length ? null : [...draft.capabilities],
        allowed_cidrs: networks.length === 0 ? null : networks,
      };
      if (draft.ownerId === myId) return answerOf(api.POST("/v1/me/api-keys", { body }));
      return answerOf(
        api.POST("/v1/organizations/{organization_id}/api-keys", {
          params: { path: { organization_id: organization.id } },
          body: { ...body, user_id: draft.ownerId },
        }),
      );
    },
    onSuccess: async (key) => {
      onMade(key);
      await queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
}

interface FieldProps<T> {
  readonly value: T;
  readonly error: string | undefined;
  readonly onChange: (value: T) => void;
}

function OwnerField({ value, error, onChange }: FieldProps<string>): ReactNode {
  const { form } = useMessages(messages);
  const { id: myId, name: myName, organization } = useMe();
  const { data } = useQuery(membersQuery(useHoldfast(), organization.id));
  const others = (data?.items ?? []).filter(({ user_id: id }) => id !== myId);
  return (
    <NativeSelect
      label={form.owner}
      data={[
        { value: myId, label: myName },
        ...others.map(({ user_id: id, name, email }) => ({ value: id, label: `${name} · ${email}` })),
      ]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      error={error}
    />
  );
}

interface SpacesProps extends FieldProps<readonly string[]> {
  readonly ownerId: string;
}

/** The spaces that the owner reaches; of somebody else's private one an admin makes no keys. */
function SpacesField({ ownerId, value, error, onChange }: SpacesProps): ReactNode {
  const { form } = useMessages(messages);
  const { privateSpace } = useMessages(app).nav;
  const holdfast = useHoldfast();
  const { api } = holdfast;
  const { id: myId, organization } = useMe();
  const isMine = ownerId === myId;
  const mine = useQuery({ ...spacesQuery(holdfast), enabled: isMine });
  const theirs = useQuery({
    queryKey: keyOf("access", "spaces", ownerId),
    queryFn: () =>
      answerOf(
        api.GET("/v1/organizations/{organization_id}/members/{user_id}/access", {
          params: { path: { organization_id: organization.id, user_id: ownerId }, query: { limit: 100 } },
        }),
      ),
    enabled: !isMine,
  });
  const spaces = isMine
    ? (mine.data ?? []).map(({ id, name, is_private: isPrivate }) => ({
        value: id,
        label: isPrivate ? privateSpace : name,
      }))
    : (theirs.data?.items ?? [])
        .filter(({ role, is_private: isPrivate }) => role !== null && !isPrivate)
        .map(({ space_id: id, space_name: name }) => ({ value: id, label: name ?? id }));
  return (
    <MultiSelect
      label={form.spaces}
      description={form.spacesHint}
      data={spaces}
      value={[...value]}
      onChange={onChange}
      error={error}
      searchable
      clearable
      limit={100}
    />
  );
}
