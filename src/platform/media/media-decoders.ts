/** Decoders that are known to be good with hostile input, and that whoever sends media needs: for `-codec_whitelist`. */
export const decoders = [
  "h264,hevc,vp8,libvpx,vp9,libvpx-vp9,av1,libaom-av1,libdav1d,mpeg4,prores,mjpeg,png",
  "aac,mp3,mp3float,opus,libopus,vorbis,libvorbis,flac,alac",
  "pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f64le,pcm_alaw,pcm_mulaw",
].join(",");
