// A figure: draw its chart where the block left room.
aglab.kinds.figure = function (block) {
  draw(block.querySelector(".aglab-plot"), specOf(block));
};
