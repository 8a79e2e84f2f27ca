import { Button, Checkbox, Group, NativeSelect, SegmentedControl, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useState } from "react";
import { useConsole, useHoldfast, useMe, useRoles } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Empty } from "../../parts/empty.tsx";
import { PageControl } from "../../parts/lists/page-control.tsx";
import { fileNameOf } from "../../parts/lists/file-name.ts";
import { SecretOnce } from "../../parts/lists/secret-once.tsx";
import { WideTable } from "../../parts/lists/wide-table.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { membersQuery } from "../people/members.ts";
import { KeyRow } from "./key-row.tsx";
import { type Created, keysQuery } from "./keys.ts";
import { messages } from "./messages.ts";

const NewKey = lazy(async () => ({ default: (await import("./new-key.tsx")).NewKey }));

/** A key whose text was just told, and whether it is new. */
interface Told {
  readonly key: Created;
  readonly isNew: boolean;
}

/** The person's API keys, and for admins those of everyone: made, narrowed, rolled and revoked. */
export function KeysScreen(): ReactNode {
  const texts = useMessages(messages);
  const { isAdmin } = useRoles();
  const address = useSearch({ from: "/keys" });
  const navigate = useNavigate({ from: "/keys" });
  const isEveryone = isAdmin && address.whose === "everyone";
  const [withRevoked, setWithRevoked] = useState(false);
  const [isNew, setIsNew] = useState(false);
  const [told, setTold] = useState<Told>();
  useShortcuts([{ keys: "n", label: texts.keys.make, run: () => setIsNew(true) }]);
  return (
    <>
      <PageHeader title={texts.title} text={texts.text}>
        <Button onClick={() => setIsNew(true)}>{texts.make}</Button>
      </PageHeader>
      <Stack gap="md">
        <Group gap="md" align="flex-end">
          {isAdmin && (
            <SegmentedControl
              aria-label={texts.whose}
              data={[
                { value: "mine", label: texts.mine },
                { value: "everyone", label: texts.everyone },
              ]}
              value={isEveryone ? "everyone" : "mine"}
              onChange={(whose) =>
                void navigate({ search: whose === "mine" ? {} : { whose: "everyone" }, replace: true })
              }
            />
          )}
          {isEveryone && (
            <OwnerSelect
              value={address.user}
              onChange={(user) =>
                void navigate({
                  search: { whose: "everyone", ...(user === undefined ? {} : { user }) },
                  replace: true,
                })
              }
            />
          )}
          <Checkbox
            label={texts.showRevoked}
            checked={withRevoked}
            onChange={(event) => {
              setWithRevoked(event.currentTarget.checked);
              void navigate({ search: (before) => ({ ...before, page: 1 }), replace: true });
            }}
          />
        </Group>
        <KeyList
          isEveryone={isEveryone}
          withRevoked={withRevoked}
          onRolled={(key) => setTold({ key, isNew: false })}
        />
      </Stack>
      <Suspense>
        {isNew && (
          <NewKey
            ownerId={isEveryone ? address.user : undefined}
            onMade={(key) => {
              setIsNew(false);
              setTold({ key, isNew: true });
            }}
            onClose={() => setIsNew(false)}
          />
        )}
      </Suspense>
      {told !== undefined && <KeyText told={told} onClose={() => setTold(undefined)} />}
    </>
  );
}

function OwnerSelect({
  value,
  onChange,
}: {
  readonly value: string | undefined;
  readonly onChange: (userId: string | undefined) => void;
}): ReactNode {
  const texts = useMessages(messages);
  const { organization } = useMe();
  const { data } = useQuery(membersQuery(useHoldfast(), organization.id));
  return (
    <NativeSelect
      label={texts.onlyOf}
      size="xs"
      data={[
        { value: "", label: texts.anyone },
        ...(data?.items ?? []).map(({ user_id: id, name }) => ({ value: id, label: name })),
      ]}
      value={value ?? ""}
      onChange={({ currentTarget: { value: chosen } }) => onChange(chosen === "" ? undefined : chosen)}
    />
  );
}

interface ListProps {
  readonly isEveryone: boolean;
  readonly withRevoked: boolean;
  readonly onRolled: (key: Created) => void;
}

function KeyList({ isEveryone, withRevoked, onRolled }: ListProps): ReactNode {
  const texts = useMessages(messages);
  const { columns } = texts;
  const { organization } = useMe();
  const { user, page = 1 } = useSearch({ from: "/keys" });
  const navigate = useNavigate({ from: "/keys" });
  const organizationId = isEveryone ? organization.id : undefined;
  const keys = useQuery(keysQuery(useHoldfast(), { organizationId, userId: user, withRevoked, page }));
  const owner = isEveryone ? [columns.owner] : [];
  return (
    <QueryView query={keys}>
      {({ items, total_pages: total }) =>
        items.length === 0 ? (
          <Empty title={withRevoked ? texts.empty : texts.emptyFiltered} text={texts.emptyText} />
        ) : (
          <>
            <WideTable
              label={texts.title}
              minWidth={900}
              columns={[columns.name, ...owner, columns.can, columns.used, columns.ends, columns.state, ""]}
            >
              {items.map((key) => (
                <KeyRow key={key.id} apiKey={key} withOwner={isEveryone} onRolled={onRolled} />
              ))}
            </WideTable>
            <PageControl
              page={page}
              total={total}
              onChange={(next) => void navigate({ search: (before) => ({ ...before, page: next }) })}
            />
          </>
        )
      }
    </QueryView>
  );
}

/** The text of a key, which nobody can ask for again. */
function KeyText({ told: { key, isNew }, onClose }: { readonly told: Told; readonly onClose: () => void }) {
  const texts = useMessages(messages);
  const { address } = useConsole();
  return (
    <SecretOnce
      title={isNew ? texts.made(key.name) : texts.rolled(key.name)}
      secret={key.key}
      fileName={fileNameOf(key.name, "key.txt")}
      example={(secret) => `curl -sS ${address}/v1/me -H 'Authorization: Bearer ${secret}'`}
      onClose={onClose}
    />
  );
}
