import type { ReactNode } from "react";
import { joinClasses } from "../../design/join-classes.ts";
import { madeImages, madeVideos } from "./landing-media.ts";
import { MadeVideo } from "./made-video.tsx";

/** What comes of a call, before a word of it is read: a video, an avatar and images that the sandbox made. */
export function HeroMedia() {
  return (
    <ul aria-label="Made with this API" className="grid grid-cols-3 grid-rows-[auto_auto] gap-2.5 sm:gap-3">
      <Frame kind="Video" className="col-span-2 aspect-video">
        <MadeVideo video={madeVideos.boat} name={madeVideos.boat.prompt} className={fill} />
      </Frame>
      <Frame kind="Avatar" className="row-span-2">
        <MadeVideo video={madeVideos.avatar} name="An avatar who speaks" className={fill} />
      </Frame>
      <Frame kind="Image" className="aspect-4/3">
        <img src={madeImages.lighthouse.src} alt={madeImages.lighthouse.prompt} className={fill} />
      </Frame>
      <Frame kind="Image" className="aspect-4/3">
        <img src={madeImages.planet.src} alt={madeImages.planet.prompt} className={fill} />
      </Frame>
    </ul>
  );
}

const fill = "absolute inset-0 size-full object-cover";

function Frame({ kind, className, children }: { kind: string; className: string; children: ReactNode }) {
  return (
    <li className={joinClasses("relative overflow-hidden rounded-lg bg-[#141d21] shadow-float", className)}>
      {children}
      <span className="pointer-events-none absolute top-2 left-2 rounded-sm bg-black/65 px-1.5 py-0.5 text-xs font-medium text-white">
        {kind}
      </span>
    </li>
  );
}
