import { Link } from "@tanstack/react-router";
import { Button, buttonClasses } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { nameType } from "../../parts/format/model-words.ts";
import { madeImages, madeVideos } from "../landing/landing-media.ts";

const examples = [
  { type: "image", picture: madeImages.lighthouse.src, says: "An image from a prompt, or from other images" },
  { type: "video", picture: madeVideos.boat.poster, says: "A few seconds of video from a prompt or an image" },
  { type: "avatar", picture: madeVideos.avatar.poster, says: "A face that speaks with a voice of yours" },
  { type: "drama", picture: madeVideos.drama.poster, says: "A film with roles and voices from a script" },
] as const;

/** In the place of a list without tasks: what would be there, and how it gets there. */
export function NoTasks({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) {
  if (isFiltered) {
    return (
      <EmptyState title="No tasks match." action={<Button onClick={onClear}>Show all tasks</Button>}>
        Choose another status, type, model or time, or search for other words.
      </EmptyState>
    );
  }
  return (
    <div className="flex flex-col gap-6">
      <EmptyState
        title="No tasks yet"
        action={
          <Link to="/console/playground" className={buttonClasses("primary")}>
            Try it in the playground
          </Link>
        }
      >
        Every image, video, avatar, drama and speech request is a task. It appears here with its output and cost.
      </EmptyState>
      <ul aria-label="What can be made" className="grid grid-cols-2 gap-4 lg:grid-cols-4">
        {examples.map(({ type, picture, says }) => (
          <li key={type} className="overflow-hidden rounded-lg border border-line bg-surface">
            <img src={picture} alt="" loading="lazy" className="aspect-4/3 w-full object-cover" />
            <div className="flex flex-col gap-1 px-3 py-3">
              <p className="text-sm font-medium">{nameType(type)}</p>
              <p className="text-xs text-ink-soft">{says}</p>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
