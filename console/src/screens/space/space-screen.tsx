import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import { spaceAddress } from "../../app/addresses.ts";
import { keepLastSpace } from "../../app/preferences.ts";
import { useMessages } from "../../messages/messages.ts";
import { ScreenError } from "../../parts/screen-error.tsx";
import { ScreenLoading } from "../../parts/screen-loading.tsx";
import { useRights, useSpace } from "./access.ts";
import type { ListAddress } from "./list/question.ts";
import { messages } from "./messages.ts";
import { SpaceView } from "./space-view.tsx";

/** The documents of a space, in its folders. */
export function SpaceScreen(): ReactNode {
  const { spaceId } = useParams({ from: "/spaces/$spaceId" });
  const address = useSearch({ from: "/spaces/$spaceId" });
  const navigate = useNavigate();
  const texts = useMessages(messages);
  const space = useSpace(spaceId);
  const rights = useRights(spaceId);
  const isThere = space.data !== undefined;
  useEffect(() => {
    if (isThere) keepLastSpace(spaceId);
  }, [spaceId, isThere]);
  const failed = space.data === undefined ? space : rights;
  if (failed.error !== null && failed.data === undefined)
    return <ScreenError error={failed.error} retry={() => void failed.refetch()} />;
  if (space.data === undefined || rights.data === undefined) return <ScreenLoading />;
  const change = (part: ListAddress & { panel?: string | undefined }): void =>
    void navigate({
      to: "/spaces/$spaceId",
      params: { spaceId },
      search: spaceAddress({ ...address, ...part }),
      // A folder is a place to come back to; each letter of a search is not.
      replace: part.q !== undefined || address.q !== undefined,
    });
  return (
    <SpaceView
      key={spaceId}
      space={space.data.value}
      title={space.data.value.is_private ? texts.privateSpace : space.data.value.name}
      rights={rights.data}
      address={address}
      onAddress={change}
    />
  );
}
