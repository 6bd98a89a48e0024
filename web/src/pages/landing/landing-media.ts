import avatar from "./media/avatar.mp4";
import avatarPoster from "./media/avatar-poster.webp";
import balloons from "./media/balloons.webp";
import boat from "./media/boat.mp4";
import boatPoster from "./media/boat-poster.webp";
import city from "./media/city.webp";
import drama from "./media/drama.mp4";
import dramaPoster from "./media/drama-poster.webp";
import flowers from "./media/flowers.webp";
import lighthouse from "./media/lighthouse.webp";
import northernLights from "./media/northern-lights.webp";
import planet from "./media/planet.webp";

/** Sandbox output for the landing page; `scripts/draw-landing-media.ts` regenerates it. */
export const madeImages = {
  lighthouse: { src: lighthouse, prompt: "A lighthouse on a stormy coast at dusk" },
  planet: { src: planet, prompt: "A planet with rings and a rocket" },
  flowers: { src: flowers, prompt: "A bouquet of wild flowers in a vase" },
  northernLights: { src: northernLights, prompt: "Northern lights over a cabin" },
  city: { src: city, prompt: "Neon city in the rain, cyberpunk" },
  balloons: { src: balloons, prompt: "Balloons over green hills in summer" },
} as const;

export const madeVideos = {
  boat: { src: boat, poster: boatPoster, prompt: "A sailing boat at sunset" },
  avatar: { src: avatar, poster: avatarPoster, prompt: "“Hello! I was made from one picture and a voice.”" },
  drama: { src: drama, poster: dramaPoster, prompt: "The Keeper’s Light" },
} as const;
