import { PageSection } from "../../design/page-section.tsx";
import { madeImages, madeVideos } from "./landing-media.ts";
import { MadeVideo } from "./made-video.tsx";

const { northernLights, city, flowers, balloons } = madeImages;
const steps = ["Script", "Roles", "Storyboard", "Shots", "Voices", "Video"];

/** A drama from a page of script, and images with their prompts. */
export function MadeWith() {
  return (
    <PageSection
      title="From a prompt to a film"
      intro="Everything on this page was made with this API, by its sandbox models."
    >
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1.35fr)_minmax(0,1fr)]">
        <figure className="flex flex-col overflow-hidden rounded-lg border border-line bg-surface">
          <MadeVideo
            video={madeVideos.drama}
            name={`A drama: ${madeVideos.drama.prompt}`}
            className="aspect-video w-full bg-black object-cover"
          />
          <figcaption className="flex flex-1 flex-col justify-center gap-2.5 p-4 sm:p-5">
            <p>
              <span className="font-semibold">{madeVideos.drama.prompt}</span>
              <span className="text-ink-soft"> · a drama from a page of script, in one request</span>
            </p>
            <ol
              aria-label="Steps of a drama"
              className="flex flex-wrap items-center gap-x-1.5 gap-y-1 text-xs text-ink-soft"
            >
              {steps.map((step, index) => (
                <li key={step} className="flex items-center gap-1.5">
                  {index > 0 && <span aria-hidden="true">→</span>}
                  <span className="rounded-sm bg-sunken px-1.5 py-0.5 font-medium">{step}</span>
                </li>
              ))}
            </ol>
          </figcaption>
        </figure>
        <ul aria-label="Images" className="grid grid-cols-2 gap-4">
          {[northernLights, city, flowers, balloons].map(({ src, prompt }) => (
            <li key={src} className="flex flex-col overflow-hidden rounded-lg border border-line bg-surface">
              <div className="relative aspect-4/3 flex-1 overflow-hidden bg-sunken">
                <img
                  src={src}
                  alt=""
                  loading="lazy"
                  decoding="async"
                  className="absolute inset-0 size-full object-cover"
                />
              </div>
              <p className="line-clamp-2 px-3 py-2.5 text-xs text-ink-soft">“{prompt}”</p>
            </li>
          ))}
        </ul>
      </div>
    </PageSection>
  );
}
