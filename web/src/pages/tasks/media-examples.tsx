import { Link } from "@tanstack/react-router";
import { queryTable } from "../../api/query-table.ts";
import { useTableQuery } from "../../api/use-table-query.ts";
import { Section } from "../../design/section.tsx";
import { nameType } from "../../parts/format/model-labels.ts";
import { madeImages, madeVideos } from "../landing/landing-media.ts";

const examples = [
  { type: "image", image: madeImages.lighthouse.src, says: "An image from a prompt, or from other images" },
  { type: "video", image: madeVideos.boat.poster, says: "A few seconds of video from a prompt or an image" },
  { type: "avatar", image: madeVideos.avatar.poster, says: "A face that speaks with your voice" },
  { type: "drama", image: madeVideos.drama.poster, says: "A video with roles and voices from a script" },
] as const;

/** Media types of the account's models; empty if it has only chat models. */
export function MediaExamples({ title }: { title?: string }) {
  const models = useTableQuery(queryTable.models.list());
  const offered = examples.flatMap((example) => {
    const model = models.data?.data.find(({ type }) => type === example.type);
    return model === undefined ? [] : [{ ...example, model: model.id }];
  });
  if (offered.length === 0) return null;
  const list = (
    <ul aria-label="Media types" className="grid grid-cols-2 gap-4 lg:grid-cols-4">
      {offered.map(({ type, image, says, model }) => (
        <li
          key={type}
          className="relative overflow-hidden rounded-lg border border-line bg-surface hover:border-line-strong"
        >
          <img src={image} alt="" loading="lazy" className="aspect-4/3 w-full object-cover" />
          <div className="flex flex-col gap-1 px-3 py-3">
            <Link
              to="/console/playground"
              search={{ model }}
              className="text-sm font-medium after:absolute after:inset-0"
            >
              {nameType(type)}
            </Link>
            <p className="text-xs text-ink-soft">{says}</p>
          </div>
        </li>
      ))}
    </ul>
  );
  return title === undefined ? list : <Section title={title}>{list}</Section>;
}
