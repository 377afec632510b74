/* Shape nodes: how many nodes along one axis the particles of a cell touch, by shape order (see shape.h). */
#ifndef SHARED_SHAPE_NODES_H
#define SHARED_SHAPE_NODES_H

#define SHAPE_NODES_OF(order) ((order) < 2 ? 2 : 4)

#endif
