/* The generator against published answers, and the map from seed to weights that the model format promises. */
#include "helper.h"

#include "rng/draw.h"
#include "rng/philox.h"

/* Known answers of Random123's kat_vectors for philox4x32, 10 rounds. */
static void known_answers(void **state)
{
    (void)state;
    static const uint32_t vectors[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
         0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
         0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        broad__philox(out, vectors[i], vectors[i] + 4);
        assert_memory_equal(out, vectors[i] + 6, sizeof out);
    }
}

/* The first number of a stream, computed by hand from the known answer for an all-zero counter but the purpose. */
static void layout_of_the_counter(void **state)
{
    (void)state;
    broad__stream stream = {0x0123456789abcdefu, BROAD__FOR_ENHANCEMENT, 7, 3, 5};
    for (uint64_t element = 0; element < 5; element++) {
        uint32_t counter[4] = {(uint32_t)(element / 2), 7, 3u << 16 | 5u, 2u << 24};
        uint32_t key[2] = {0x89abcdefu, 0x01234567u}, word[4];
        broad__philox(word, counter, key);
        uint64_t bits = (uint64_t)word[2 * (element % 2) + 1] << 32 | word[2 * (element % 2)];
        assert_true(broad__random_at(&stream, element) == (double)(bits >> 11) * 0x1p-53);
    }
    /* An element beyond 2^33 reaches the high bits. */
    uint32_t counter[4] = {1, 7, 3u << 16 | 5u, 2u << 24 | 1u}, key[2] = {0x89abcdefu, 0x01234567u}, word[4];
    broad__philox(word, counter, key);
    double expected = (double)((((uint64_t)word[1] << 32) | word[0]) >> 11) * 0x1p-53;
    assert_true(broad__random_at(&stream, 2 * ((1ull << 32) + 1)) == expected);
}

static void filling_equals_single_numbers(void **state)
{
    (void)state;
    broad__stream stream = {42, BROAD__FOR_FEATURES, 1, 0, 0};
    double values[201];
    /* The last start: the high bits of the counter change within the batch. */
    static const uint64_t starts[] = {0, 1, 2, 3, 1000001, (1ull << 33) - 70};
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++)
        for (size_t count = 0; count <= 200; count++) {
            values[count] = 7;
            broad__random_fill(values, &stream, starts[s], count);
            for (size_t i = 0; i < count; i++) assert_true(values[i] == broad__random_at(&stream, starts[s] + i));
            assert_true(values[count] == 7);
        }
}

static void streams_differ_and_are_uniform(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    double sum = 0, squares = 0;
    broad__stream stream = {1, BROAD__FOR_FEATURES, 0, 0, 0};
    for (uint64_t i = 0; i < COUNT; i++) {
        double u = broad__random_at(&stream, i);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += u * u;
    }
    assert_true(fabs(sum / COUNT - 0.5) < 5 * sqrt(1.0 / 12 / COUNT));
    assert_true(fabs(squares / COUNT - 1.0 / 3) < 5 * sqrt(4.0 / 45 / COUNT));
    broad__stream others[] = {{2, BROAD__FOR_FEATURES, 0, 0, 0}, {1, BROAD__FOR_ENHANCEMENT, 0, 0, 0},
                              {1, BROAD__FOR_FEATURES, 1, 0, 0}, {1, BROAD__FOR_FEATURES, 0, 1, 0},
                              {1, BROAD__FOR_FEATURES, 0, 0, 1}, {1ull << 32 | 1, BROAD__FOR_FEATURES, 0, 0, 0}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(broad__random_at(&others[i], 0) != broad__random_at(&stream, 0));
}

/* Node by node, inputs first, then the bias; the unit of fan-in is sqrt(3 / inputs). */
static void check_weights(size_t inputs, size_t nodes, double range, broad_range_unit unit)
{
    double *weight = malloc(inputs * nodes * sizeof(double)), *bias = malloc(nodes * sizeof(double));
    broad__stream stream = {99, BROAD__FOR_FEATURES, 2, 0, 0};
    double scale = unit == BROAD_RANGE_FAN_IN ? range * sqrt(3.0 / (double)inputs) : range;
    broad__draw_nodes(weight, bias, &(broad__draw){stream, inputs, nodes, range, unit});
    for (uint64_t node = 0; node < nodes; node++) {
        for (uint64_t i = 0; i < inputs; i++) {
            double u = broad__random_at(&stream, node * (inputs + 1) + i);
            assert_true(weight[i * nodes + node] == (2 * u - 1) * scale);
        }
        assert_true(bias[node] == (2 * broad__random_at(&stream, node * (inputs + 1) + inputs) - 1) * range);
    }
    free(weight), free(bias);
}

static void weights_from_the_stream(void **state)
{
    (void)state;
    static const size_t inputs[] = {1, 2, 20, 100, 254, 255, 256, 257, 511, 512, 700, 1500};
    static const size_t nodes[] = {1, 3, 8, 9, 10, 33};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        for (size_t j = 0; j < sizeof nodes / sizeof nodes[0]; j++) {
            check_weights(inputs[i], nodes[j], 0.5, BROAD_RANGE_FAN_IN);
            check_weights(inputs[i], nodes[j], 2.0, BROAD_RANGE_ABSOLUTE);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(layout_of_the_counter),
        cmocka_unit_test(filling_equals_single_numbers),
        cmocka_unit_test(streams_differ_and_are_uniform),
        cmocka_unit_test(weights_from_the_stream),
    };
    return cmocka_run_group_tests_name("rng", tests, NULL, NULL);
}
