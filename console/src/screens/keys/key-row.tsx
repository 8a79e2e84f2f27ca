import { Button, Menu, Modal, Table, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useHoldfast, useMe, useRoles } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { isAhead } from "../../parts/lists/is-ahead.ts";
import { Confirm } from "../../parts/lists/confirm.tsx";
import { type StateColor, StateBadge } from "../../parts/lists/state-badge.tsx";
import { Ago } from "../../parts/time.tsx";
import { AccessView } from "../access/access-view.tsx";
import { membersQuery } from "../people/members.ts";
import { type State, mayRoll, stateOf } from "./key-state.ts";
import { type ApiKey, type Created, keyActions } from "./keys.ts";
import { messages } from "./messages.ts";
import { RollKey } from "./roll-key.tsx";

interface Props {
  readonly apiKey: ApiKey;
  readonly withOwner: boolean;
  readonly onRolled: (key: Created) => void;
}

const COLORS: Readonly<Record<State, StateColor>> = {
  active: "green",
  expired: "gray",
  revoked: "gray",
  leaked: "red",
};

export function KeyRow({ apiKey: key, withOwner, onRolled }: Props): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const state = stateOf(key);
  const isByAdmin = key.created_by !== null && key.created_by !== key.user_id;
  return (
    <Table.Tr>
      <Table.Td>
        <Bidi>{key.name}</Bidi>
        <Text size="xs" c="dimmed" ff="monospace">
          {key.prefix}…
        </Text>
        {isByAdmin && (
          <Text size="xs" c="dimmed">
            {texts.byAdmin}
          </Text>
        )}
      </Table.Td>
      {withOwner && (
        <Table.Td>
          <OwnerName userId={key.user_id} />
        </Table.Td>
      )}
      <Table.Td>
        <Text size="sm">{key.capabilities.map((each) => texts.capabilities[each]).join(", ")}</Text>
        <Text size="xs" c="dimmed">
          {key.spaces === null ? texts.allSpaces : texts.spaces(key.spaces.length)}
          {key.allowed_cidrs !== null && `, ${texts.networks(key.allowed_cidrs.length)}`}
        </Text>
      </Table.Td>
      <Table.Td>
        <LastUse apiKey={key} />
      </Table.Td>
      <Table.Td>{key.expires_at === null ? texts.noEnd : <Ago at={key.expires_at} />}</Table.Td>
      <Table.Td>
        <StateBadge color={COLORS[state]}>{texts.states[state]}</StateBadge>
        {state === "active" && key.overlap_ends_at !== null && isAhead(key.overlap_ends_at) && (
          <Text size="xs" c="dimmed">
            {texts.overlap(formats.time(key.overlap_ends_at))}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="end">
        <Actions apiKey={key} state={state} onRolled={onRolled} />
      </Table.Td>
    </Table.Tr>
  );
}

function OwnerName({ userId }: { readonly userId: string }): ReactNode {
  const { organization } = useMe();
  const { data } = useQuery(membersQuery(useHoldfast(), organization.id));
  return <Bidi>{data?.items.find(({ user_id: id }) => id === userId)?.name ?? userId}</Bidi>;
}

function LastUse({ apiKey: key }: { readonly apiKey: ApiKey }): ReactNode {
  const texts = useMessages(messages);
  if (key.last_used_at === null) return <Text size="sm">{texts.never}</Text>;
  return (
    <>
      <Text size="sm">
        <Ago at={key.last_used_at} />
        {key.last_used_ip !== null && ` ${texts.from(key.last_used_ip)}`}
      </Text>
      {key.last_used_user_agent !== null && (
        <Text size="xs" c="dimmed" maw={220} truncate title={key.last_used_user_agent}>
          {key.last_used_user_agent}
        </Text>
      )}
    </>
  );
}

type Open = "access" | "roll" | "revoke";

function Actions({
  apiKey: key,
  state,
  onRolled,
}: {
  readonly apiKey: ApiKey;
  readonly state: State;
  readonly onRolled: (key: Created) => void;
}): ReactNode {
  const texts = useMessages(messages);
  const { id: myId, organization } = useMe();
  const { isAdmin } = useRoles();
  const holdfast = useHoldfast();
  const [open, setOpen] = useState<Open>();
  const isMine = key.user_id === myId;
  const actions = keyActions(holdfast, key, organization.id, isMine || !isAdmin);
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="compact-sm" variant="default" aria-label={texts.actions(key.name)}>
            ⋯
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setOpen("access")}>{texts.access}</Menu.Item>
          {mayRoll(key, isMine) && <Menu.Item onClick={() => setOpen("roll")}>{texts.roll}</Menu.Item>}
          {(state === "active" || state === "expired") && (
            <Menu.Item c="var(--mantine-color-error)" onClick={() => setOpen("revoke")}>
              {texts.revoke}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {open === "access" && (
        <Modal opened onClose={close} title={texts.accessOf(key.name)} size="xl">
          <AccessView subject={key.id} read={actions.access} />
        </Modal>
      )}
      {open === "roll" && (
        <RollKey
          apiKey={key}
          roll={actions.roll}
          onRolled={(created) => {
            close();
            onRolled(created);
          }}
          onClose={close}
        />
      )}
      {open === "revoke" && <RevokeKey apiKey={key} revoke={actions.revoke} onClose={close} />}
    </>
  );
}

interface RevokeProps {
  readonly apiKey: ApiKey;
  readonly revoke: () => Promise<unknown>;
  readonly onClose: () => void;
}

/** Says when the key was last used, by which nobody revokes one that a program still needs. */
function RevokeKey({ apiKey: key, revoke, onClose }: RevokeProps): ReactNode {
  const texts = useMessages(messages);
  const { revoking } = texts;
  const formats = useFormats();
  const queries = useQueryClient();
  const used = (): string => {
    if (key.last_used_at === null) return revoking.unused;
    const ago = formats.ago(key.last_used_at);
    const agent = key.last_used_user_agent ?? key.last_used_ip;
    return agent === null ? revoking.usedAgo(ago) : revoking.used(ago, agent);
  };
  return (
    <Confirm
      title={texts.revokeOf(key.name)}
      action={texts.revoke}
      onConfirm={async () => {
        await revoke();
        await queries.invalidateQueries({ queryKey: ["keys"] });
      }}
      onClose={onClose}
    >
      {[used(), revoking.text]}
    </Confirm>
  );
}
